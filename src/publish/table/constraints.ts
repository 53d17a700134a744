// Creates declared constraints on a new table. On an existing table, alter/keys.ts changes them.

import type { ConstraintSpec, ForeignKeySpec } from '../../core/constraint.ts';
import { runQuery, setPath, withPath, withTransaction, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { quoteName, quoteNames, type Query } from '../../db/sql.ts';
import { hintOf, isRefusal } from '../../db/connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import type { IndexStorage } from './storage.ts';
import { builtName, type TableNames } from '../../db/names.ts';
import { RowsRefused } from './refused-rows.ts';

/** For messages: "check price_positive (price > 0)". */
export const constraintText = (constraint: ConstraintSpec): string => {
  const { kind, name } = constraint;
  if (kind === 'check') return `${kind} ${name} (${constraint.condition})`;
  const own = `${kind} ${name} (${constraint.columns.join(', ')})`;
  return kind === 'unique' ? own : `${own} to ${constraint.references.table} (${constraint.to.join(', ')})`;
};

type OwnConstraint = Exclude<ConstraintSpec, ForeignKeySpec>;

const definition = (constraint: OwnConstraint, storage: IndexStorage): string =>
  constraint.kind === 'check'
    ? // A comment at its end must not take the parenthesis.
      `check (${constraint.condition}\n)`
    : `unique (${quoteNames(constraint.columns)})${storage(constraint.name)}`;

/**
 * Sets a search path for one statement: both share a transaction, so the path ends with the query.
 */
export const onPath = (path: readonly string[], statement: string): Query => ({
  text: `${setPath(path).text};\n${statement}\n;${setPath([]).text}`,
});

const addConstraints = (
  names: TableNames,
  constraints: readonly OwnConstraint[],
  storage: IndexStorage,
): Query => {
  const added = constraints.map(
    (constraint) => `add constraint ${quoteName(constraint.name)} ${definition(constraint, storage)}`,
  );
  return onPath(names.path, `alter table ${builtName(names)} ${added.join(', ')}`);
};

export const refusedByServer = (
  { table }: TableNames,
  constraints: readonly ConstraintSpec[],
  cause: unknown,
): unknown => {
  if (!isRefusal(cause)) return cause;
  const details = {
    table,
    constraint: constraints.map(constraintText).join(', '),
    problem: messageOf(cause),
    hint: hintOf(cause),
  };
  return new EtlError('ETL_CONSTRAINT_REFUSED', details, { cause });
};

export const rowsRefusedBy = (
  table: string,
  constraints: readonly ConstraintSpec[],
  cause: unknown,
): RowsRefused | undefined => {
  const { constraint: name } = cause as { constraint?: string };
  const violated = constraints.find((constraint) => constraint.name === name);
  return violated !== undefined &&
    violated.kind !== 'foreign key' &&
    ['23505', '23514'].includes(codeOf(cause) ?? '')
    ? new RowsRefused({ table, what: constraintText(violated), rule: violated }, { cause })
    : undefined;
};

const refusal = (names: TableNames, constraints: readonly OwnConstraint[], cause: unknown): unknown =>
  rowsRefusedBy(names.table, constraints, cause) ?? refusedByServer(names, constraints, cause);

/**
 * Creates all constraints except foreign keys; all checks share one scan. Errors: RowsRefused,
 * ETL_CONSTRAINT_REFUSED.
 */
export const buildConstraints = async (
  client: Client,
  names: TableNames,
  constraints: readonly ConstraintSpec[],
  storage: IndexStorage,
): Promise<void> => {
  const own = constraints.filter((one) => one.kind !== 'foreign key');
  const checks = own.filter(({ kind }) => kind === 'check');
  const keys = own.filter(({ kind }) => kind === 'unique');
  await askTogether(client, () =>
    [...(checks.length > 0 ? [checks] : []), ...keys.map((key) => [key])].map((some) =>
      runQuery(client, addConstraints(names, some, storage)).catch((cause: unknown) => {
        throw refusal(names, some, cause);
      }),
    ),
  );
};

/**
 * Lets the server parse the checks. `like`: a table with their columns. Errors:
 * ETL_CONSTRAINT_REFUSED.
 */
export const checkConditions = async (
  client: Client,
  names: TableNames,
  constraints: readonly ConstraintSpec[],
  like: string,
): Promise<void> => {
  for (const constraint of constraints) {
    if (constraint.kind !== 'check') continue;
    // The extended protocol accepts only one statement: a condition cannot add another.
    const query = {
      text: `select from ${like} where (${constraint.condition}\n) limit 0`,
      queryMode: 'extended',
    };
    await withTransaction(client, () => withPath(client, names.path, () => client.query(query))).catch(
      (cause: unknown) => {
        throw refusal(names, [constraint], cause);
      },
    );
  }
};
