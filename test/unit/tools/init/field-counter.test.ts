// The field counter has the same result as reading each field as text: in any dialect, with quotes,
// and with records of different lengths.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Dialect } from '../../../../src/core/declaration.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { createRecordParser } from '../../../../src/format/records/record-parser.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { decideColumn } from '../../../../src/tools/init/decide.ts';
import { plainDialect } from '../../../../src/tools/init/dialect.ts';
import { keysFound } from '../../../../src/tools/init/keys.ts';
import { createTableEvidence, endGathering, observeBlock } from '../../../../src/tools/init/observe.ts';
import { closeFieldCounter } from '../../../../src/tools/init/field-counter.ts';
import { draftSpec, sourceOf } from '../../../../src/tools/init/draft-files.ts';
import { searched } from '../../../helpers/seeded.ts';

const header = ['id', 'day', 'name'];

/** Returns the evidence from the records of several blocks. */
const found = (blocks: readonly string[], dialect: Dialect, isCounted: boolean) => {
  const made = createTableEvidence(header, dialect);
  const table = isCounted ? made : { ...made, fieldCounter: undefined };
  const fields = fieldsOf({ header, name: 'a.csv', constants: {} }, dialect);
  const observing = {
    file: 'a.csv',
    dialect,
    parse: createRecordParser(draftSpec(sourceOf(['a.csv']), dialect), fields, 'lf'),
  };
  for (const text of blocks) {
    const bytes = Buffer.from(text);
    const spans = createSplitter(dialect, header.length, 'lf').split(bytes, true);
    const position = { byte: 0, line: 1, record: 1 };
    observeBlock(table, { bytes, spans, position, fileBytes: bytes.length }, observing);
  }
  endGathering(table);
  expect(made.fieldCounter).toBeDefined();
  closeFieldCounter(made.fieldCounter!);
  return {
    records: table.records,
    faults: [...table.faults],
    keys: keysFound(table.keys),
    columns: table.columns.map((column, place) => decideColumn(column, header[place]!)),
  };
};

const texts = fc.oneof(
  fc.stringMatching(/^[+-]?\d{1,18}$/),
  fc.stringMatching(/^(?:19|20)\d\d-[01]\d-[0-3]\d$/),
  fc.stringMatching(/^[A-Za-zéß€ ."',;\t-]{0,20}$/u),
  fc.constantFrom(
    '',
    ' ',
    'NA',
    ' M ',
    '"',
    'unknown',
    `${'long '.repeat(12)}text`,
    '0123456789abcdef',
    'x\ny',
  ),
);

/** Writes a field, in quotes if the text needs them, or at random. */
const written = (text: string, chance: number, quote: string | null): string => {
  if (quote === null) return text.replace(/[,\n]/g, '_');
  const isQuoted = /[",\n]/.test(text) || chance % 3 === 0;
  const blanks = chance % 11 === 0 && isQuoted ? ' ' : '';
  return isQuoted ? `${blanks}"${text.replaceAll('"', '""')}"` : text;
};

const dialects = fc.record({
  quote: fc.constantFrom('"', null),
  trim: fc.constantFrom(true, false),
  ragged: fc.constantFrom('reject' as const, 'pad' as const),
});

it('finds in every block what is found text by text', () => {
  fc.assert(
    fc.property(
      fc.array(texts, { minLength: 1, maxLength: 30 }),
      fc.array(fc.nat(1_000), { minLength: 1, maxLength: 250 }),
      dialects,
      (drawn, chances, options) => {
        const dialect = { ...plainDialect, ...options };
        const records = chances.map((chance, at) => {
          const width = chance % 41 === 0 ? 2 : chance % 43 === 0 ? 4 : 3;
          const fields = Array.from({ length: width }, (_, place) =>
            written(
              place === 0 ? String(at) : drawn[(chance + place) % drawn.length]!,
              chance + place,
              options.quote,
            ),
          );
          return `${fields.join(',')}\n`;
        });
        const half = Math.ceil(records.length / 2);
        const blocks = [records.slice(0, half).join(''), records.slice(half).join('')];
        expect(found(blocks, dialect, true)).toEqual(found(blocks, dialect, false));
      },
    ),
    { numRuns: searched(150) },
  );
});

it('finds the same in records of many windows, after the first ones have been looked through for keys', () => {
  const lines = Array.from(
    { length: 30_000 },
    (_, at) =>
      `${Math.floor(at / 3)},2024-01-${String(1 + (at % 3)).padStart(2, '0')},"n, ${Math.floor(at / 3) % 5_000}"\n`,
  );
  const tallied = found([lines.join('')], plainDialect, true);
  expect(tallied.keys).toEqual([[0, 1]]);
  expect(tallied).toEqual(found([lines.join('')], plainDialect, false));
});
