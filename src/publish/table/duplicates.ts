// Finds the new rows with a duplicate key, after the server has refused them.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { BuiltOver } from './built-over.ts';
import { productionName } from '../../db/names.ts';
import type { LoadedRow } from './refused-rows.ts';
import { haveSame, type TableIndex } from './table-state.ts';

export interface DuplicateRow extends LoadedRow {
  /** If false, another new row has the same key. */
  readonly isInProduction: boolean;
}

const namedMax = 5;

/** Thrown when new rows have keys of other rows; the run then finds their files and lines. */
export class DuplicateRows extends Error {
  readonly plan: BuiltOver;
  /** For messages: "primary key (id)". */
  readonly what: string;
  readonly rows: readonly DuplicateRow[];

  constructor(plan: BuiltOver, what: string, rows: readonly DuplicateRow[], options: ErrorOptions) {
    super('rows have keys that others have', options);
    this.plan = plan;
    this.what = what;
    this.rows = rows;
  }
}

const indexText = ({ isPrimary, name, columns }: TableIndex): string =>
  `${isPrimary ? 'primary key' : `index ${name}`} (${columns.join(', ')})`;

/** Finds duplicates, first of the key that the server named. */
export const findDuplicates = async (
  client: Client,
  plan: BuiltOver,
  cause: unknown,
): Promise<DuplicateRows | undefined> => {
  const { table, production } = plan;
  const { constraint: named } = (cause ?? {}) as { constraint?: string };
  const keys = production!.indexes
    .filter(({ isUnique, hasExpressions }) => isUnique && !hasExpressions)
    .toSorted((one, other) => Number(other.name === named) - Number(one.name === named));
  for (const index of keys) {
    const key = index.columns.map((column) => `n.${quoteName(column)}::text`).join(', ');
    const { rows } = await client.query(
      `select n.ctid::text as ctid, n.xmin::text as xmin, array_to_string(array[${key}], ', ') as key, o.is_there as "isInProduction"
        from ${table.rowsFrom} n
          cross join lateral (select exists (
            select from ${productionName(table)} o where ${haveSame(index, 'n', 'o')}) as is_there) o
        where o.is_there
          or exists (select from ${table.rowsFrom} m where ${haveSame(index, 'n', 'm')} and m.ctid < n.ctid)
        order by n.ctid limit ${namedMax}`,
    );
    if (rows.length > 0) return new DuplicateRows(plan, indexText(index), rows, { cause });
  }
  return undefined;
};
