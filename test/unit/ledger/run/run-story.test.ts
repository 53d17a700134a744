// A stored plan is small, and says how much it omits.

import { expect, it } from 'vitest';
import { cutPlan, type PlannedRows } from '../../../../src/ledger/run/run-story.ts';

const planned = (table: string, texts: readonly string[]): PlannedRows => ({
  table,
  isDerived: false,
  rows: texts.map((text) => ['ddl', text]),
});

it('a plan of usual size is kept as it is', () => {
  const tables = [planned('s.a', ['create table a ()', 'x'.repeat(2_000)]), planned('s.b', ['y'])];
  expect(cutPlan(tables)).toEqual({ tables, rowsCut: 0 });
});

it('a long text says how much of it is missing', () => {
  const { tables, rowsCut } = cutPlan([planned('s.a', ['x'.repeat(5_000)])]);
  expect(tables[0]?.rows[0]?.[1]).toBe(`${'x'.repeat(2_000)} … (3000 characters more)`);
  expect(rowsCut).toBe(0);
});

it('of megabytes the first 64,000 characters are kept, and the rows that are left out are counted', () => {
  const many = Array.from({ length: 1_600 }, (_, n) => planned(`s.t${n}`, ['a', 'x'.repeat(1_995)]));
  const { tables, rowsCut } = cutPlan(many);
  expect(JSON.stringify(tables).length).toBeLessThan(70_000);
  expect(tables.length).toBeGreaterThan(25);
  expect(rowsCut).toBe(3_200 - tables.reduce((sum, { rows }) => sum + rows.length, 0));
});
