// Changes columns of an existing table as declared, as far as `evolve` allows. Other changes are
// refused, with the DDL that would make them.
//
// All changes are one statement, so the server rewrites the table at most once. It runs in the
// publishing transaction: readers wait from then until the commit.

import { evolveChoices, type Evolve } from '../../core/declaration.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import { columnClause, serverColumnsOf } from '../table/server-columns.ts';
import { productionName } from '../../db/names.ts';
import type { DeclaredTable } from '../table/tables.ts';
import type { ProductionTable } from '../table/production.ts';
import { fittingHint, isOthers } from '../table/fitting.ts';
import { refuseShape } from '../table/shape.ts';
import { numbered, type TableColumn } from '../table/table-state.ts';
import { asTaken } from './taken-types.ts';
import { widens } from './widening.ts';

interface ColumnChange {
  readonly name: string;
  readonly alter: string;
  /** If true, existing rows get a constant, and the column's default is dropped afterwards. */
  readonly isFilled?: boolean;
  readonly rewrites?: boolean;
  readonly problem: string;
  /** The lowest `evolve` level that makes the change; undefined: no level does. */
  readonly needs: Evolve | undefined;
}

const isMade = ({ evolve }: DeclaredTable, { needs }: ColumnChange): boolean =>
  needs !== undefined && evolveChoices.indexOf(needs) <= evolveChoices.indexOf(evolve);

const defaultOf = ({ declared }: DeclaredTable, column: string): string | undefined =>
  declared.find(({ name }) => name === column)?.default;

/**
 * Adds a column. The server stores a constant default once for all rows: PostgreSQL, "Modifying
 * Tables".
 */
const addition = (table: DeclaredTable, { name, type, notNull }: TableColumn): ColumnChange => {
  const isRequired =
    notNull ||
    table.primaryKey.includes(name) ||
    table.declared.some((one) => one.name === name && !one.nullable);
  const value = defaultOf(table, name);
  const isFilled = value !== undefined;
  const problem = `${name} ${type} is declared, and the table has no such column`;
  const add = `add column ${quoteName(name)} ${type}`;
  if (isRequired && !isFilled) {
    const why = 'it allows no nulls and has no default, so existing rows need a value first';
    return { name, alter: add, problem: `${problem}; ${why}`, needs: undefined };
  }
  const filled = isFilled ? ` default ${quoteText(value)}` : '';
  return { name, alter: add + filled + (isRequired ? ' not null' : ''), isFilled, problem, needs: 'add' };
};

const clauseOf = (table: DeclaredTable, { name, type, filledBy }: TableColumn): string => {
  const column = serverColumnsOf(table.attributes).find((one) => one.name === name)!;
  const clause = columnClause(
    column.kind === 'identity' ? column : { ...column, type, expression: filledBy! },
  );
  // One line, for messages. The server's text contains no `--` comment that would need the line
  // break.
  return clause.replace('\n) stored', ') stored');
};

const filling = (table: DeclaredTable, column: TableColumn): ColumnChange => ({
  name: column.name,
  alter: `add column ${clauseOf(table, column)}`,
  rewrites: true,
  problem: `${column.name} ${column.type} is declared, and the table has no such column`,
  needs: 'add',
});

const refilling = (
  table: DeclaredTable,
  column: TableColumn,
  was: TableColumn,
  { setsExpressions }: ProductionTable,
): ColumnChange => {
  const name = quoteName(column.name);
  const isComputed = ({ filledBy }: TableColumn): boolean => filledBy !== null && filledBy !== numbered;
  const text = ({ filledBy }: TableColumn): string =>
    filledBy === null ? 'a plain column' : filledBy === numbered ? 'an identity' : `generated as ${filledBy}`;
  const problem = `${column.name} is declared as ${text(column)}, and it is ${text(was)} in the table`;
  if (setsExpressions && isComputed(column) && isComputed(was))
    return {
      name: column.name,
      alter: `alter column ${name} set expression as (${column.filledBy!})`,
      rewrites: true,
      problem,
      needs: 'retype',
    };
  const alter = `drop column ${name}, add column ${clauseOf(table, column)}`;
  const unable =
    isComputed(column) && isComputed(was) ? ', which PostgreSQL can change from version 17 on' : '';
  return { name: column.name, alter, problem: `${problem}${unable}`, needs: undefined };
};

const retyping = (
  { name, type }: TableColumn,
  was: TableColumn,
  { columnUsers }: ProductionTable,
): ColumnChange => {
  const alter = `alter column ${quoteName(name)} type ${type}`;
  const problem = `${name} ${type} is declared, and it is ${was.type} in the table`;
  const widening = widens(was.type, type);
  if (widening === undefined) {
    const using = `${alter} using ${quoteName(name)}::${type}`;
    return { name, alter: using, problem: `${problem}, which may lose values`, needs: undefined };
  }
  const users = columnUsers.filter(({ column }) => column === name).map((user) => user.name);
  if (users.length === 0) return { name, alter, problem, needs: 'retype', ...widening };
  const first = `${users.join(', ')} must be dropped first, and created again afterwards`;
  return { name, alter, problem: `${problem}; ${first}`, needs: undefined };
};

const changesOf = (
  table: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): readonly ColumnChange[] => [
  ...asTaken(declared, production.columns).flatMap((column) => {
    const was = production.columns.find(({ name }) => name === column.name);
    if (was === undefined)
      return [column.filledBy === null ? addition(table, column) : filling(table, column)];
    if (column.filledBy !== null && column.filledBy !== was.filledBy)
      return [refilling(table, column, was, production)];
    return was.type === column.type ? [] : [retyping(column, was, production)];
  }),
  ...production.columns
    .filter(
      ({ name, notNull, hasDefault }) => notNull && !hasDefault && declared.every((one) => one.name !== name),
    )
    .map(({ name }) => ({
      name,
      alter: `alter column ${quoteName(name)} drop not null`,
      problem: `column ${name} of the table is not declared, and needs a value`,
      needs: undefined,
    })),
];

const statementOf = (table: DeclaredTable, changes: readonly Pick<ColumnChange, 'alter'>[]): string =>
  `alter table ${productionName(table)} ${changes.map(({ alter }) => alter).join(', ')}`;

/**
 * Returns true if runs fill the column for each row, so that existing rows cannot get a constant.
 */
const isFilledByRuns = ({ declared, mode: { versions } }: DeclaredTable, { name }: ColumnChange): boolean =>
  declared.some((one) => one.name === name && one.lineage !== undefined) ||
  versions?.from === name ||
  versions?.to === name;

/**
 * Fails if a declared column cannot be added, or if another column needs a value. Errors:
 * ETL_PUBLISH_SHAPE.
 */
export const refuseUnfit = (
  table: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): void => {
  const refused = changesOf(table, declared, production).filter((change) => !isMade(table, change));
  if (refused.length === 0) return;
  const unfilled = refused.filter((change) => isFilledByRuns(table, change));
  if (unfilled.length > 0)
    refuseShape(
      table.table,
      `rows of ${table.schema}.${table.table} have no ${unfilled.map(({ name }) => name).join(', ')}, which a run writes into each row that it loads`,
      'Load everything again once with --full-refresh.',
    );
  const problem = `rows cannot be put into ${table.schema}.${table.table}: ${refused.map((one) => one.problem).join('; ')}`;
  if (isOthers(production))
    refuseShape(
      table.table,
      problem,
      fittingHint(table, asTaken(declared, production.columns), production, false),
    );
  const needs = evolveChoices.findLast((level) => refused.some((change) => change.needs === level));
  const option =
    needs !== undefined && refused.every((change) => change.needs !== undefined)
      ? `Declare evolve: '${needs}' to let the run do it, or`
      : 'Change the declaration, or';
  refuseShape(
    table.table,
    problem,
    `${option} execute: ${statementOf(table, refused)}; or load everything again into a new table with --full-refresh.`,
  );
};

export interface Evolution {
  readonly texts: readonly string[];
  readonly messages: readonly string[];
  /** If true, older snapshots see an empty table. PostgreSQL, "MVCC Caveats". */
  readonly rewrites: boolean;
}

/** Longest wait for referenced tables, which the statement locks, too. Readers wait meanwhile. */
const lockMs = 2_000;

export const evolutionOf = (
  table: DeclaredTable,
  declared: readonly TableColumn[],
  production: ProductionTable,
): Evolution => {
  const changes = changesOf(table, declared, production).filter((change) => isMade(table, change));
  if (changes.length === 0) return { texts: [], messages: [], rewrites: false };
  const statement = statementOf(table, changes);
  const rewrites = changes.some((change) => change.rewrites === true);
  const rewritten = rewrites
    ? `, which rewrites the table (${production.size}) and its indexes: a transaction with an older snapshot will see it empty`
    : '';
  const filled = changes.filter(({ isFilled }) => isFilled === true);
  const undefaulted = filled.map(({ name }) => ({ alter: `alter column ${quoteName(name)} drop default` }));
  const statements = [
    `set local lock_timeout = ${lockMs}`,
    statement,
    ...(filled.length === 0 ? [] : [statementOf(table, undefaulted)]),
    'set local lock_timeout = 0',
  ];
  return { texts: [statement + rewritten], messages: [statements.join(';\n')], rewrites };
};

/** SQL for production's rows with the declared columns, before the table is altered. */
export const evolvedColumns = (
  table: DeclaredTable,
  columns: readonly TableColumn[],
  production: readonly TableColumn[],
): string =>
  asTaken(columns, production)
    .map(({ name, type }) => {
      const was = production.find((one) => one.name === name);
      if (was?.type === type) return quoteName(name);
      const value = defaultOf(table, name);
      const constant = value === undefined ? 'null' : quoteText(value);
      return `${was === undefined ? constant : quoteName(name)}::${type} as ${quoteName(name)}`;
    })
    .join(', ');
