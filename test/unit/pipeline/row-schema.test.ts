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
  it.each([
    { name: 'text', made: column.text('A'), good: ['', 'x'], bad: [1, null, undefined] },
    {
      name: 'varchar counts characters',
      made: column.varchar('A', { length: 2 }),
      good: ['ab', '😀😀'],
      bad: ['abc'],
    },
    {
      name: 'smallint',
      made: column.smallint('A'),
      good: [-32_768, 32_767],
      bad: [32_768, 0.5, '1'],
    },
    { name: 'integer', made: column.integer('A'), good: [2 ** 31 - 1], bad: [2 ** 31] },
    { name: 'bigint', made: column.bigint('A'), good: [1n, 2n ** 63n - 1n], bad: [1, 2n ** 63n] },
    {
      name: 'double',
      made: column.double('A'),
      good: [0.5, NaN, Infinity, -Infinity],
      bad: ['1', null],
    },
    { name: 'numeric', made: column.numeric('A'), good: ['1.50'], bad: [1.5] },
    { name: 'boolean', made: column.boolean('A'), good: [true, false], bad: ['t'] },
    {
      name: 'timestamp',
      made: column.timestamp('A'),
      good: ['2011-01-01 00:00:00'],
      bad: [new Date(0)],
    },
    {
      name: 'uuid',
      made: column.uuid('A'),
      good: ['00000000-0000-0000-0000-000000000001'],
      bad: ['x'],
    },
    { name: 'json', made: column.json('A'), good: [{ a: [1] }, 'x', 1], bad: [] },
    { name: 'nullable', made: column.text('A').nullable(), good: [null, 'x'], bad: [1] },
    { name: 'bounds', made: column.integer('A').min(0).max(9), good: [0, 9], bad: [-1, 10, '5'] },
    { name: 'a bound of decimals', made: column.numeric('A').max('9.50'), good: ['9.5'], bad: ['9.51', 'x'] },
    {
      name: 'values',
      made: column.text('A').oneOf(['a', 'b']).nullable(),
      good: ['a', null],
      bad: ['c', 1],
    },
    { name: 'a pattern', made: column.text('A').pattern(/^a/), good: ['ab'], bad: ['ba'] },
    { name: 'a length', made: column.text('A').length({ max: 2 }), good: ['😀😀'], bad: ['abc'] },
    {
      name: 'a check',
      made: column.text('A').check((text) => text !== 'x', 'no x'),
      good: ['y'],
      bad: ['x'],
    },
    {
      name: 'a schema',
      made: column.text('A').zod(z.enum(['AA', 'SP'])),
      good: ['AA'],
      bad: ['BB'],
    },
  ] as { name: string; made: AnyColumn; good: unknown[]; bad: unknown[] }[])(
    '$name',
    ({ made, good, bad }) => {
      expect(good.filter((value) => !accepts(made, value))).toEqual([]);
      expect(bad.filter((value) => accepts(made, value))).toEqual([]);
    },
  );

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
