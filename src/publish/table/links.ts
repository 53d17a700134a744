// Foreign keys between the tables of one run. Tables that are replaced together keep these keys, so
// such a key alone is no reason to keep a table in place.

import { foreignKeysOf, targetAt } from './foreign-keys.ts';
import type { DeclaredTable } from './tables.ts';
import type { Dependent } from './dependents.ts';
import type { TableConstraint } from './table-state.ts';

interface Linked {
  readonly oid: number;
  readonly constraints: readonly TableConstraint[];
  readonly dependents: readonly Dependent[];
  readonly isReferenced: boolean;
  readonly published: { readonly constraints: readonly string[] | null } | undefined;
}

/**
 * A foreign key. `from` and `to` are indexes of tables. `shown`: undefined if production lacks the
 * key.
 */
interface Link {
  readonly from: number;
  readonly to: number;
  readonly shown: string | undefined;
}

const linksOf = (tables: readonly DeclaredTable[], found: readonly (Linked | undefined)[]): readonly Link[] =>
  found.flatMap((production, from) => {
    if (production === undefined) return [];
    const table = tables[from]!;
    const declared = foreignKeysOf(table);
    const ours = new Set([...declared.map(({ name }) => name), ...(production.published?.constraints ?? [])]);
    const there = production.constraints.flatMap(({ name, on, shown }): Link[] =>
      ours.has(name) ? [{ from, to: found.findIndex((one) => one?.oid === on), shown }] : [],
    );
    const wanted = declared.map((key): Link => ({
      from,
      to: targetAt(table, key, tables),
      shown: undefined,
    }));
    return [...there, ...wanted].filter(({ to }) => to !== from && found[to] !== undefined);
  });

/**
 * Ignores foreign keys within the run. But if one of two tables must be kept, the other is kept,
 * too: otherwise a kept table would reference deleted rows or a dropped table.
 */
export const withoutLinks = <Table extends Linked>(
  tables: readonly DeclaredTable[],
  found: readonly (Table | undefined)[],
): readonly (Table | undefined)[] => {
  const links = linksOf(tables, found);
  if (links.length === 0) return found;
  const shown = new Set(links.map((link) => link.shown));
  const others = found.map((table) =>
    (table?.dependents ?? []).filter(({ kind, name }) => kind !== 'foreign key' || !shown.has(name)),
  );
  const stays = tables.map(
    ({ extent, partitionBy }, at) =>
      found[at] !== undefined && (extent === 'part' || partitionBy !== undefined || others[at]!.length > 0),
  );
  for (let before = -1, now = 0; before !== now;) {
    before = now;
    for (const { from, to } of links) stays[from] = stays[to] = stays[from]! || stays[to]!;
    now = stays.filter(Boolean).length;
  }
  const nameOf = (at: number): string => `${tables[at]!.schema}.${tables[at]!.table}`;
  return found.map((table, at) => {
    if (table === undefined) return undefined;
    const dependents = others[at]!;
    if (!stays[at]!) return { ...table, dependents, isReferenced: false };
    const isThere = (from: number): boolean =>
      links.some((link) => link.from === from && link.to === at && link.shown !== undefined);
    const refersTo = new Set(links.flatMap(({ from, to }) => (from === at ? nameOf(to) : [])));
    const comes = new Set(links.flatMap(({ from, to }) => (to === at && !isThere(from) ? nameOf(from) : [])));
    return {
      ...table,
      // Our foreign keys are deferred, so rows of a table without a primary key can be replaced.
      isReferenced:
        table.isReferenced &&
        (tables[at]!.primaryKey.length > 0 || dependents.some(({ kind }) => kind === 'foreign key')),
      dependents: [
        ...table.dependents,
        ...[...comes].map((name): Dependent => ({ kind: 'foreign key', name })),
        ...[...refersTo].map((name): Dependent => ({ kind: 'foreign key to', name })),
      ],
    };
  });
};
