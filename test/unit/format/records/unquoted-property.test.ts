// Text without quotes is split without csv-parse. csv-parse must find the same fields.

import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { csvOptions } from '../../../../src/format/records/record-parser.ts';
import { grammarOf } from '../../../../src/format/records/grammar.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { decode } from './decoding.ts';
import { tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

const dialects = fc.constantFrom(
  {},
  { delimiter: ';' },
  { delimiter: '\t' },
  { delimiter: '||' },
  { delimiter: '§' },
  { delimiter: '::' },
  { quote: null },
  { quote: "'" },
  { escape: '\\' },
  { comment: '#' },
);
const bits = ['a', '1', ' ', '\t', '\\', ':', '|', ';', '#', 'é', '€', '𝄞', 'naïve', 'NULL', '-'];
const field = fc.array(fc.constantFrom(...bits), { maxLength: 5 }).map((all) => all.join(''));
const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
const newline = fc.constantFrom('\n', '\r\n', '\r');

const header = ['a', 'b', 'c'];
// No trimming and no null tokens, so that decoded values equal the fields found.
const columns = Object.fromEntries(
  header.map((name) => [name, column.text(name).nullable()]),
) as unknown as object;

it('texts without a quote have the fields that csv-parse finds', async () => {
  let seen = 0;
  const property = fc.asyncProperty(dialects, rows, newline, async (dialect, records, end) => {
    const options = { nulls: [], ...dialect };
    const { delimiter } = tableOf(options, { columns }).format.dialect;
    const text = records.map((fields) => fields.join(delimiter) + end).join('');
    const { dialect: whole } = tableOf(options, { columns }).format;
    const oracle = {
      ...csvOptions(whole, grammarOf(whole, 3, 'lf')),
      record_delimiter: end,
      skip_empty_lines: true,
      comment: whole.comment,
      comment_no_infix: true,
    };
    const expected = parse(text, oracle).filter(({ length }) => length === header.length);
    const { rows: found } = await decode(text, {
      options,
      columns,
      header,
      lineEnd: end === '\r' ? 'cr' : 'lf',
    });
    expect(found).toEqual(expected);
    seen += found.length;
  });
  await fc.assert(property, { numRuns: searched(400) });
  expect(seen).toBeGreaterThan(200);
});
