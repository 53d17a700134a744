// The field counter has the same result as reading each field as text: in any dialect, with quotes,
// and with records of different lengths.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Dialect } from '../../../../src/core/declaration.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { createRecordParser } from '../../../../src/format/records/record-parser.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { decideColumn } from '../../../../src/tools/init/decide.ts';
import { plainDialect } from '../../../../src/tools/init/delimiter.ts';
import { keysFound } from '../../../../src/tools/init/keys.ts';
import { createTableEvidence, endGathering, observeBlock } from '../../../../src/tools/init/observe.ts';
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
  return {
    records: table.records,
    faults: [...table.faults],
    keys: keysFound(table.keys),
    candidates: table.columns.map(({ alive }) => alive),
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

/** Texts of one kind each, so that most texts are of a form that occurred before. */
const kinds = fc.constantFrom(
  fc.integer({ min: -200, max: 2_000 }).map(String),
  fc.stringMatching(/^-?(?:0|[1-9]\d{0,19})$/),
  fc.stringMatching(/^[+-]?0?\d{1,4}(?:\.\d{0,4})?$/),
  fc.stringMatching(/^-?\d{0,3}\.\d{3}$/),
  fc.stringMatching(/^-?\d\.\d{14,22}(?:e-\d)?$/),
  fc.stringMatching(/^0{0,3}\d{1,5}$/),
  fc.stringMatching(/^(?:19|20)\d\d[01]\d[0-3]\d$/),
  fc.stringMatching(/^ {0,2}\d{1,3}\.\d{1,2} ?$/),
  fc.stringMatching(/^20\d\d-(?:0[1-9]|1[0-2])-[0-3]\d$/),
  fc.stringMatching(/^20\d\d-0[1-9]-[0-2][1-8][ T][0-2]\d:[0-5]\d(?::[0-6]\d(?:\.\d{1,7})?)?$/),
  fc.stringMatching(/^20\d\d-0[1-9]-[0-2][1-8] \d\d:[0-5]\d:00(?:Z|[+-][01]\d(?::[0-5]\d)?)$/),
  fc.constantFrom('2024-01-01', '2024-01-02').map((date) => `${date} 00:00:00`),
  fc.stringMatching(/^[0-2]\d:?[0-5]\d$/),
  fc.stringMatching(/^[0-2]\d:[0-5]\d:[0-5]\d$/),
);

it('finds in columns of one kind what is found text by text', () => {
  fc.assert(
    fc.property(
      fc
        .tuple(kinds, kinds)
        .chain(([first, second]) =>
          fc.array(fc.tuple(fc.nat(20), first, second), { minLength: 10, maxLength: 150 }),
        ),
      dialects,
      (drawn, options) => {
        const dialect = { ...plainDialect, ...options };
        const lines = drawn.map(([chance, ...own]) => {
          const fields = own.map((text, place) => written(text, chance + place, options.quote));
          return `${[chance === 0 ? 'x' : chance, ...fields].join(',')}\n`;
        });
        const half = Math.ceil(lines.length / 2);
        const blocks = [lines.slice(0, half).join(''), lines.slice(half).join('')];
        expect(found(blocks, dialect, true)).toEqual(found(blocks, dialect, false));
      },
    ),
    { numRuns: searched(300) },
  );
});

const numbered = (text: (index: number) => string): readonly string[] =>
  Array.from({ length: 40 }, (_, index) => text(10 + index));

const uuids = numbered((at) => `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a${at}`);

it.each<[what: string, usual: readonly string[], last: string]>([
  ['a leading zero', numbered((at) => `${at}`), '05'],
  ['another sign', numbered((at) => `${at}`), '-5'],
  ['a point at the end', numbered((at) => `${at}`), '77.'],
  ['a sign alone', numbered((at) => `-${at}`), '-'],
  ['16 digits', numbered((at) => `90000000000000${at}`), '9999999999999997'],
  ['more digits than a double has', numbered((at) => `0.${at}345678901234567`), '0.99999999999999999'],
  ['more digits, beyond the range', numbered((at) => `0.${at}345678901234567`), '0.10345678901234561'],
  ['a number too large for bigint', numbered((at) => `10000000000000000${at}`), '9300000000000000000'],
  ['a day that is none', numbered((at) => `20${at}-02-17`), '2023-02-29'],
  ['a year zero', numbered((at) => `20${at}-02-17`), '0000-02-17'],
  ['an empty text', numbered((at) => `20${at}-02-17`), ''],
  ['a time among days', numbered((at) => `20${at}-02-17`), '10:11'],
  ['a day among times', numbered((at) => `10:${at}`), '2024-02-17'],
  ['digits that are no day', numbered((at) => `20${at}0217`), '20230230'],
  ['digits that are no time', numbered((at) => `11${at}`), '1199'],
  ['a time that is none', numbered((at) => `10:00:${at}`), '24:00:00'],
  ['a time of day after midnights', numbered((at) => `20${at}-02-17 00:00:00`), '2024-02-17 01:00:00'],
  ['another separator', numbered((at) => `2024-02-17 10:11:${at}`), '2024-02-17T10:11:12'],
  ['no seconds', numbered((at) => `2024-02-17 10:11:${at}`), '2024-02-17 10:11'],
  ['decimals of a second', numbered((at) => `2024-02-17 10:11:12.12${at}000`), '2024-02-17 10:11:12.1234567'],
  ['an offset', numbered((at) => `2024-02-17 10:11:${at}`), '2024-02-17 10:11:12Z'],
  ['an offset that is none', numbered((at) => `2024-02-17 10:11:${at}+01`), '2024-02-17 10:11:12+16'],
  ['capitals', uuids, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
  ['a uuid in braces', uuids, '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'],
  ['a uuid without a dash', uuids, 'a0eebc9909c0b-4ef8-bb6d-6bb9bd380a11'],
  ['another letter', uuids, 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
])('classifies %s after many usual values', (_, usual, last) => {
  const lines = (values: readonly string[]): string =>
    values.map((value) => `1,${value},"${value}"\n`).join('');
  const blocks = [lines(usual), lines([...usual, ...numbered((at) => `${usual[at - 10]}`), last])];
  expect(found(blocks, plainDialect, true)).toEqual(found(blocks, plainDialect, false));
});

it('finds the same in records of many batches, after the first ones have been looked through for keys', () => {
  const lines = Array.from(
    { length: 30_000 },
    (_, at) =>
      `${Math.floor(at / 3)},2024-01-${String(1 + (at % 3)).padStart(2, '0')},"n, ${Math.floor(at / 3) % 5_000}"\n`,
  );
  const tallied = found([lines.join('')], plainDialect, true);
  expect(tallied.keys).toEqual([[0, 1]]);
  expect(tallied).toEqual(found([lines.join('')], plainDialect, false));
});
