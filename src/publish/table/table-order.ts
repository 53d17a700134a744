// The order in which tables are built: source tables, then derived tables after those they read.

import { ok as assert } from 'node:assert';
import type { TableSpec } from '../../core/declaration.ts';
import { newName, oldName } from '../../db/names.ts';

/** Sorts tables, and keeps the declared order where possible. There must be no cycle. */
export const tableOrder = (tables: readonly TableSpec[]): readonly TableSpec[] => {
  const ordered: TableSpec[] = tables.filter((table) => table.kind === 'source');
  const done = new Set(ordered.map((table) => table.name));
  while (ordered.length < tables.length) {
    const next = tables.find(
      (table) =>
        table.kind === 'derived' && !done.has(table.name) && table.from.every((name) => done.has(name)),
    );
    assert(next !== undefined, 'derived tables form a cycle, or name a table that does not exist');
    ordered.push(next);
    done.add(next.name);
  }
  return ordered;
};

const shownNames = (table: string): readonly string[] => [table, newName(table), oldName(table)];

export const mentions = (sql: string, name: string): boolean => {
  const within = '[\\p{L}\\p{N}_$]';
  const written = name.replaceAll('"', '""');
  return new RegExp(
    `(?<!${within})${written.replace(/[\^$.*+?()[\]{}|/\\]/g, '\\$&')}(?!${within})`,
    'iu',
  ).test(sql);
};

/**
 * Returns the tables to build before this table. A source table made by SQL may read source tables
 * declared before it. A derived table may read all source tables, and each earlier derived table
 * that its SQL names, even if `from` does not: built earlier, it would read production's old rows.
 */
export const prerequisites = (
  table: TableSpec,
  tables: readonly TableSpec[],
  sql: string,
): readonly string[] => {
  const sources = tables.filter(({ kind }) => kind === 'source').map(({ name }) => name);
  if (table.kind === 'source')
    return table.transform === undefined ? [] : sources.slice(0, sources.indexOf(table.name));
  const order = tableOrder(tables).map(({ name }) => name);
  const named = order
    .slice(sources.length, order.indexOf(table.name))
    .filter((name) => shownNames(name).some((shown) => mentions(sql, shown)));
  return [...new Set([...sources, ...table.from, ...named])];
};

/** Returns a cycle such as ['a', 'b', 'a'], or undefined. */
export const findCycle = (tables: readonly TableSpec[]): readonly string[] | undefined => {
  const sourcesOf = new Map(tables.map((table) => [table.name, table.kind === 'derived' ? table.from : []]));
  const clear = new Set<string>();
  const follow = (name: string, path: readonly string[]): readonly string[] | undefined => {
    const start = path.indexOf(name);
    if (start >= 0) return [...path.slice(start), name];
    if (clear.has(name)) return undefined;
    for (const source of sourcesOf.get(name) ?? []) {
      const cycle = follow(source, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    clear.add(name);
    return undefined;
  };
  for (const table of tables) {
    const cycle = follow(table.name, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
};
