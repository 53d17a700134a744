// rowSchema() makes the Zod schema of a row from the declared columns.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline, sqlFile } from '../../../src/pipeline/authoring.ts';
import type { AnyColumn } from '../../../src/pipeline/declare/column.ts';
import { rowSchema } from '../../../src/pipeline/row-schema.ts';

const accepts = (made: AnyColumn, value: unknown): boolean => {
  const pipeline = definePipeline({
    name: 'p',
    schema: 's',
    tables: { t: { source: csv('a'), columns: { a: made } } },
  });
  return rowSchema(pipeline, 't').safeParse({ a: value }).success;
};

describe('rowSchema', () => {
  it.each<[name: string, made: AnyColumn, good: unknown[], bad: unknown[]]>([
    ['text', column.text('A'), ['', 'x'], [1, null, undefined]],
    ['varchar counts characters', column.varchar('A', { length: 2 }), ['ab', '😀😀'], ['abc']],
    ['smallint', column.smallint('A'), [-32_768, 32_767], [32_768, 0.5, '1']],
    ['integer', column.integer('A'), [2 ** 31 - 1], [2 ** 31]],
    ['bigint', column.bigint('A'), [1n, 2n ** 63n - 1n], [1, 2n ** 63n]],
    ['double', column.double('A'), [0.5, NaN, Infinity, -Infinity], ['1', null]],
    ['numeric', column.numeric('A'), ['1.50'], [1.5]],
    ['boolean', column.boolean('A'), [true, false], ['t']],
    ['timestamp', column.timestamp('A'), ['2011-01-01 00:00:00'], [new Date(0)]],
    ['uuid', column.uuid('A'), ['00000000-0000-0000-0000-000000000001'], ['x']],
    ['json', column.json('A'), [{ a: [1] }, 'x', 1], []],
    ['nullable', column.text('A').nullable(), [null, 'x'], [1]],
    ['bounds', column.integer('A').min(0).max(9), [0, 9], [-1, 10, '5']],
    ['a bound of decimals', column.numeric('A').max('9.50'), ['9.5'], ['9.51', 'x']],
    ['values', column.text('A').oneOf(['a', 'b']).nullable(), ['a', null], ['c', 1]],
    ['a pattern', column.text('A').pattern(/^a/), ['ab'], ['ba']],
    ['a length', column.text('A').length({ max: 2 }), ['😀😀'], ['abc']],
    ['a check', column.text('A').check((text) => text !== 'x', 'no x'), ['y'], ['x']],
    ['a schema', column.text('A').zod(z.enum(['AA', 'SP'])), ['AA'], ['BB']],
  ])('%s', (_, made, good, bad) => {
    expect(good.filter((value) => !accepts(made, value))).toEqual([]);
    expect(bad.filter((value) => accepts(made, value))).toEqual([]);
  });

  const pipeline = definePipeline({
    name: 'p',
    schema: 's',
    tables: {
      raw: { source: csv('a'), staging: 'text', transform: sqlFile('a.sql') },
      daily: { from: ['raw'], transform: sqlFile('b.sql') },
    },
  });

  it('is the declared row for a table that SQL makes, also with parameters', () => {
    const declared = definePipeline({
      name: 'p',
      schema: 's',
      params: z.object({ file: z.string() }),
      tables: ({ file }) => ({
        raw: {
          source: csv(file),
          staging: 'text',
          transform: sqlFile('a.sql'),
          row: z.object({ a: z.int() }),
        },
        daily: {
          from: ['raw'],
          transform: sqlFile('b.sql'),
          row: z.object({ day: z.string(), n: z.bigint() }),
        },
      }),
    });
    const schema = rowSchema(declared, 'daily', { file: 'a.csv' });
    expect(schema.parse({ day: 'x', n: 1n })).toEqual({ day: 'x', n: 1n });
    expect(schema.safeParse({ day: 'x', n: 1 }).success).toBe(false);
    expect(rowSchema(declared, 'raw', { file: 'a.csv' }).safeParse({ a: 'x' }).success).toBe(false);
  });

  it.each(['raw', 'daily'] as const)('%s, which SQL makes, may hold anything', (table) =>
    expect(rowSchema(pipeline, table).parse({ x: 1, y: null })).toEqual({ x: 1, y: null }),
  );

  it('names the nearest table when there is no such table', () =>
    expect(() => rowSchema(pipeline, 'dayly' as 'daily')).toThrow(
      expect.objectContaining({
        code: 'ETL_USAGE',
        message: 'pipeline p has no table `dayly`; did you mean `daily`?',
      }),
    ));
});
