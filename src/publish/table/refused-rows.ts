// Rows that violate a key, a check or a foreign key, and the SQL that finds them.

import { withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';

/**
 * A refused row. ctid and xmin belong to the table into which it was loaded; messages show `key`.
 */
export interface LoadedRow {
  readonly ctid: string;
  readonly xmin: string;
  readonly key: string;
}

/**
 * The rule that rows violate. For a partition key, `condition` is true for a row that fits no
 * partition.
 */
export type RowRule =
  | { readonly kind: 'check'; readonly condition: string }
  | { readonly kind: 'partition key'; readonly condition: string }
  | { readonly kind: 'unique'; readonly columns: readonly string[] }
  | {
      readonly kind: 'foreign key';
      readonly columns: readonly string[];
      readonly to: readonly string[];
      /** The rows that may be referenced: a quoted name, or a query in parentheses. */
      readonly keys: string;
    };

/** Thrown when the server refused rows; the run then finds their files and lines. */
export class RowsRefused extends Error {
  readonly table: string;
  /** For messages: "check price_positive (price > 0)". */
  readonly what: string;
  readonly rule: RowRule;

  constructor({ table, what, rule }: Pick<RowsRefused, 'table' | 'what' | 'rule'>, options: ErrorOptions) {
    super('rows are refused', options);
    this.table = table;
    this.what = what;
    this.rule = rule;
  }
}

const namedMax = 5;

const rowCharactersMax = 100;

export interface RefusedFrom {
  readonly rowsFrom: string;
  readonly columns?: readonly string[];
  /** SQL of generated columns that the table lacks: conditions of checks may use them. */
  readonly values?: readonly string[];
}

const refusedRows = ({ rowsFrom, columns: known, values = [] }: RefusedFrom, rule: RowRule): string => {
  if (rule.kind === 'check' || rule.kind === 'partition key') {
    const isRefused = rule.kind === 'check' ? `(${rule.condition}\n) is false` : rule.condition;
    const shown = known === undefined ? 'n.*' : known.map((name) => `n.${quoteName(name)}`).join(', ');
    const computed =
      values.length === 0 ? '' : `cross join lateral (select ${values.join(', ')}) as computed`;
    return `select n.ctid, n.xmin, left(row(${shown})::text, ${rowCharactersMax}) as key from ${rowsFrom} n ${computed} where ${isRefused}`;
  }
  const columns = rule.columns.map((column) => `n.${quoteName(column)}`);
  const key = `'(' || array_to_string(array[${columns.map((column) => `${column}::text`).join(', ')}], ', ') || ')'`;
  const isPresent = columns.map((column) => `${column} is not null`).join(' and ');
  if (rule.kind === 'foreign key') {
    const same = rule.to.map((name, at) => `k.${quoteName(name)} = ${columns[at]!}`).join(' and ');
    return `select n.ctid, n.xmin, ${key} as key from ${rowsFrom} n
      where ${isPresent} and not exists (select from ${rule.keys} k where ${same})`;
  }
  return `select * from (
    select n.ctid, n.xmin, ${key} as key, count(*) over (partition by ${columns.join(', ')}) as same
      from ${rowsFrom} n where ${isPresent}
  ) n where same > 1`;
};

interface Refused {
  readonly rows: readonly LoadedRow[];
  readonly all: number;
}

export const noneRefused: Refused = { rows: [], all: 0 };

export const findRefused = async (
  client: Client,
  path: readonly string[],
  from: RefusedFrom,
  rule: RowRule,
): Promise<Refused> => {
  const sql = `select ctid::text as ctid, xmin::text as xmin, key, count(*) over ()::float8 as all
    from (${refusedRows(from, rule)}) refused order by refused.ctid limit ${namedMax}`;
  const { rows } = await withTransaction(client, () => withPath(client, path, () => client.query(sql)));
  return { rows, all: rows[0]?.all ?? 0 };
};
