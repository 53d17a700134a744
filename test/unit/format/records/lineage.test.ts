// Where a row comes from: both decoders find the record's line, whatever surrounds it. Lineage
// values are exempt from rules for fields.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { searched } from '../../../helpers/seeded.ts';
import { expectSame } from './both-decoders.ts';
import { blocksIn, blocksOf, cutAt, decodeBlocks, decodedFile, tableOf } from './reading.ts';
import { createRecordDecoder } from './record-decoder.ts';

const file = { ...decodedFile(['n', 't']), id: 1, runId: 7, runStarted: '2026-11-22 20:50:21.123456+00' };
const textOf = (blocks: Awaited<ReturnType<typeof blocksOf>>, decode: Decoder): string =>
  Buffer.concat(decodeBlocks(blocks, decode).map(({ copyBytes }) => copyBytes)).toString();

/**
 * Parts of a file. `#` becomes the line at which the record starts, which the first field must
 * equal.
 */
const parts = [
  '#,a\n',
  '#,a\n',
  '#,"a\nb\n"\n',
  '#,"a""b"\r\n',
  '\n',
  '-- no record\n',
  '#,\n',
  '#,a,b\n',
  'x,a\n',
  '#,a"\n',
];

it('the line of a row is that at which its record starts, by both decoders, in both forms, wherever the file is cut', async () => {
  const table = tableOf(
    { comment: '--', nulls: ['', '1', '7'] },
    {
      columns: {
        n: column.integer('n', { nulls: ['never'] }).map((text) => text),
        t: column.text('t').nullable(),
      },
      lineage: ['_line'],
    },
  );
  const mapless = tableOf(
    { comment: '--' },
    { columns: { n: column.integer('n'), t: column.text('t').nullable() }, lineage: ['_line'] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(1, 2_000_000, 9_999_999_990),
      fc.nat(),
      async (chosen, first, cut) => {
        let line = first;
        const text = chosen
          .map((part) => {
            const written = part.replace('#', String(line % 1_000_000));
            line += part.split('\n').length - 1;
            return written;
          })
          .join('');
        const bytes = Buffer.from(text);
        const split = createSplitter(mapless.format.dialect, 2, 'lf');
        const blocks = await blocksOf(cutAt(bytes, cut % (bytes.length + 1)), split, {
          byte: 0,
          line: first,
          record: 1,
        });
        const rows = textOf(blocks, createCompiledDecoder(mapless, file, encodeTextRow));
        for (const row of rows.matchAll(/^(\d+)\t.*\t(\d+)$/gm)) {
          expect(Number(row[2]) % 1_000_000).toBe(Number(row[1]));
          expect(Number(row[2])).toBeGreaterThanOrEqual(first);
        }
        expect(textOf(blocks, createRecordDecoder(mapless, file, encodeTextRow))).toBe(rows);
        for (const each of [table, mapless]) await expectSame(blocks, each, file);
      },
    ),
    { numRuns: searched(60) },
  );
});

it('what all rows of a file have is written as it is, though null tokens of the dialect look like it', async () => {
  const table = tableOf(
    { nulls: ['', '1', '7'], trim: true },
    { columns: { n: column.text('n') }, lineage: true },
  );
  const blocks = await blocksIn(table, [Buffer.from('a,b\n')]);
  const expected = 'a\t1\t1\t2026-11-22 20:50:21.123456+00\t7\n';
  expect(textOf(blocks, createCompiledDecoder(table, file, encodeTextRow))).toBe(expected);
  expect(textOf(blocks, createRecordDecoder(table, file, encodeTextRow))).toBe(expected);
  await expectSame(blocks, table, file);
});

describe('lineage is declared rightly or not at all', () => {
  const n = column.text('n');
  it.each([
    {
      name: 'another name',
      more: { columns: { n }, lineage: ['_row'] },
      problem: /lineage.*must be one of '_file', .*'_run', not '_row'/,
    },
    {
      name: 'no list',
      more: { columns: { n }, lineage: '_file' },
      problem: /lineage must be true, or a list of _file, _line, _loaded_at, _run/,
    },
    {
      name: 'a name that is taken',
      more: { columns: { _line: n }, lineage: true },
      problem: /column _line: lineage makes a column of this name; choose another name/,
    },
    {
      name: 'an index on one that is not asked for',
      more: { columns: { n }, lineage: ['_file'], primaryKey: ['_file', '_line'] },
      problem: /`_line` is not a column of the table/,
    },
    {
      name: 'staging: text',
      more: { staging: 'text', transform: { kind: 'sqlFile', path: 'a.sql' }, lineage: true },
      problem: /lineage needs columns/,
    },
  ])('$name', ({ more, problem }) => expect(() => tableOf({}, more)).toThrow(problem));

  it('in any order, with keys', () => {
    const table = tableOf(
      {},
      { columns: { n }, lineage: ['_run', '_line', '_file'], primaryKey: ['_file', '_line'] },
    );
    expect(table.columns.map(({ name }) => name)).toEqual(['n', '_file', '_line', '_run']);
    expect(tableOf({}, { columns: { n }, lineage: false }).columns).toHaveLength(1);
  });
});
