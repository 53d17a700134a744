// Rows that a key, a check or a foreign key has refused, and the SQL that finds them where they were loaded.

import { withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { ConstraintSpec } from '../../core/declaration/constraint.ts';

/** A row: its place in the table that it was loaded into, the transaction that loaded it, and what it is known by. */
export interface LoadedRow {
  readonly ctid: string;
  readonly xmin: string;
  readonly key: string;
}

/** A rule that rows have to obey. */
export type RowRule =
  | Pick<ConstraintSpec & { readonly kind: 'check' }, 'kind' | 'condition'>
  | PartitionRule
  | UniqueRule
  | ForeignKeyRule;

/** A row must belong to a partition. */
interface PartitionRule {
  readonly kind: 'partition key';
  /** SQL: what is true of a row that has none. */
  readonly condition: string;
}

interface UniqueRule {
  readonly kind: 'unique';
  readonly columns: readonly string[];
}

interface ForeignKeyRule {
  readonly kind: 'foreign key';
  readonly columns: readonly string[];
  readonly to: readonly string[];
  /** The rows that may be referred to: a quoted name, or a query in parentheses. */
  readonly keys: string;
}

/** Thrown when the server refused rows; the run then finds their files and lines. */
export class RowsRefused extends Error {
  readonly table: string;
  /** For people: "check price_positive (price > 0)". */
  readonly what: string;
  readonly rule: RowRule;

  constructor({ table, what, rule }: Pick<RowsRefused, 'table' | 'what' | 'rule'>, options: ErrorOptions) {
    super('rows are refused', options);
    this.table = table;
    this.what = what;
    this.rule = rule;
  }
}

/** How many of them an error names. */
const namedMax = 5;

/** Characters of a row that is named by its values. */
const rowCharactersMax = 100;

/** Where rows are. */
export interface RefusedFrom {
  /** Quoted name. */
  readonly rowsFrom: string;
  /** Columns of a row that people know; undefined: all. */
  readonly columns?: readonly string[];
  /** SQL of those that the table does not have yet, for the conditions of checks. */
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

/** The first rows of a table that break a rule, and how many there are. */
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
