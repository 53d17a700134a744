// The order in which tables are built, and cycles, which definePipeline refuses.

import { describe, expect, it } from 'vitest';
import type { TableSpec } from '../../../../src/core/declaration.ts';
import { definePipeline, sqlFile } from '../../../../src/pipeline/authoring.ts';
import { prerequisites, tableOrder } from '../../../../src/publish/table/table-order.ts';

const sql = sqlFile('a.sql');
const derived = (name: string, ...from: string[]) =>
  ({ name, kind: 'derived', from }) as unknown as TableSpec;
const loaded = (name: string) => ({ name, kind: 'source' }) as unknown as TableSpec;

describe('order of tables', () => {
  it.each([
    { name: 'sources first', tables: [derived('b', 'a'), loaded('a')], order: ['a', 'b'] },
    {
      name: 'derived of derived',
      tables: [derived('c', 'b'), derived('b', 'a'), loaded('a')],
      order: ['a', 'b', 'c'],
    },
    {
      name: 'declared order where there is a choice',
      tables: [derived('y', 'a'), derived('x', 'a'), loaded('a'), loaded('b')],
      order: ['a', 'b', 'y', 'x'],
    },
  ])('$name', ({ tables, order }) => expect(tableOrder(tables).map((table) => table.name)).toEqual(order));

  it.each([
    ['two tables', { a: ['b'], b: ['a'] }, 'a -> b -> a'],
    ['a table of itself', { a: ['a'] }, 'a -> a'],
    ['after a table that is not part of it', { x: ['a'], a: ['b'], b: ['c'], c: ['a'] }, 'a -> b -> c -> a'],
  ])('a cycle: %s', (_, tables, cycle) => {
    const declared = Object.fromEntries(
      Object.entries(tables).map(([name, from]) => [name, { from, transform: sql }]),
    );
    expect(() => definePipeline({ name: 'p', schema: 's', tables: declared })).toThrow(
      expect.objectContaining({
        code: 'ETL_DEFINITION_CYCLE',
        message: `pipeline p: derived tables form a cycle: ${cycle}`,
      }),
    );
  });
});

describe('tables that must be built before a table', () => {
  const text = (name: string) => ({ name, kind: 'source', transform: sql }) as unknown as TableSpec;
  const tables = [
    loaded('a'),
    text('b'),
    loaded('c'),
    derived('d', 'a'),
    derived('e', 'd'),
    derived('f', 'a'),
  ];

  it.each([
    { name: 'a typed table: nothing', table: 'a', before: [] },
    { name: 'a table that SQL makes from its staging: the sources before it', table: 'b', before: ['a'] },
    { name: 'a typed table after it: nothing', table: 'c', before: [] },
    { name: 'a derived table: every source', table: 'd', before: ['a', 'b', 'c'] },
    {
      name: 'a derived table whose SQL names one that `from` does not',
      table: 'f',
      sql: 'select * from "D" join "e_2" using (id)',
      before: ['a', 'b', 'c', 'd'],
    },
    { name: 'a derived table of a derived one', table: 'e', before: ['a', 'b', 'c', 'd'] },
  ])('$name', ({ table, before, sql: words = '' }: { table: string; before: string[]; sql?: string }) =>
    expect(
      prerequisites(
        tables.find(({ name }) => name === table)!,
        tables,
        words,
      ),
    ).toEqual(before),
  );
});
