// Changes primary key, not null, constraints and indexes of an existing table as declared.

import type { Client } from '../../db/client.ts';
import type { BuiltOver } from '../table/built-over.ts';
import { foreignKeyChanges } from '../table/foreign-keys.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { isRefusal } from '../../db/connect/server-error.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { attributeChanges } from './changes.ts';
import { evolutionOf } from './evolve.ts';
import { productionName } from '../../db/names.ts';
import { isOthers } from '../table/fitting.ts';
import type { BuiltTable, DeclaredTable } from '../table/tables.ts';
import type { ProductionTable } from '../table/production.ts';
import { isUniqueBy, type TableIndex, type TableState } from '../table/table-state.ts';

/** A statement. `failure`: start of the error message if the server refuses it. */
export interface KeyStep {
  readonly sql: string;
  readonly failure: string;
  readonly hint?: string;
}

/**
 * Statements to carry out: `drop` before the rows are written, `make` after them. applyAll()
 * changes foreign keys.
 */
export interface KeyChanges {
  readonly texts: readonly string[];
  readonly drop: readonly KeyStep[];
  readonly key: readonly KeyStep[];
  readonly make: readonly KeyStep[];
  readonly blocksReaders: boolean;
}

const listed = (columns: readonly string[]): string => `(${columns.join(', ')})`;

const isSameList = (a: readonly string[], b: readonly string[]): boolean => a.join('\0') === b.join('\0');

const restored = (target: string, index: TableIndex | undefined, name: string): readonly KeyStep[] => {
  const failure = `index ${name} cannot get its role back (replica identity or clustering)`;
  const alter = (what: string): KeyStep => ({
    sql: `alter table ${target} ${what} ${quoteName(name)}`,
    failure,
  });
  return [
    ...(index?.isReplicaIdentity === true ? [alter('replica identity using index')] : []),
    ...(index?.isClustered === true ? [alter('cluster on')] : []),
  ];
};

export const dropIndex = ({ schema }: DeclaredTable, { name }: TableIndex): KeyStep => ({
  sql: `drop index ${quoteName(schema, name)}`,
  failure: `index ${name} cannot be replaced`,
});

export const makeIndex = (
  table: DeclaredTable,
  { name, ddl }: TableIndex,
  old: TableIndex | undefined,
): readonly KeyStep[] => [
  { sql: ddl, failure: `index ${name} cannot be created` },
  ...restored(productionName(table), old, name),
];

/** Changes the primary key. If none is declared, keeps a key that a person made. */
const primaryKeyChanges = (
  table: BuiltTable,
  production: ProductionTable,
): Pick<KeyChanges, 'texts' | 'drop' | 'key'> => {
  const none = { texts: [], drop: [], key: [] };
  const old = production.indexes.find(({ isPrimary }) => isPrimary);
  const { primaryKey: wanted } = table;
  if (isSameList(old?.columns ?? [], wanted)) return none;
  if (production.dependents.some(({ kind }) => kind === 'primary key')) return none;
  // The key of a table that people made is theirs, and rows may be known by any of its unique indexes.
  if (
    table.evolve === 'keep' ||
    (isOthers(production) && (wanted.length === 0 || isUniqueBy(production, wanted)))
  )
    return none;
  const target = productionName(table);
  const text = wanted.length === 0 ? 'is dropped' : `becomes ${listed(wanted)}`;
  const failure = wanted.length === 0 ? 'cannot be dropped' : `cannot become ${listed(wanted)}`;
  const was = old === undefined ? '' : ` ${listed(old.columns)}`;
  const step = (sql: string): KeyStep => ({
    sql: `alter table ${target} ${sql}`,
    failure: `primary key${was} ${failure}`,
  });
  const name = `${table.table}_pkey`;
  const make = step(`add constraint ${quoteName(name)} primary key (${quoteNames(wanted)})`);
  return {
    texts: [`primary key${was} ${text}`],
    drop: old === undefined ? [] : [step(`drop constraint ${quoteName(old.constraint!)}`)],
    key: wanted.length === 0 ? [] : [make, ...restored(target, old, name)],
  };
};

const indexChanges = (
  table: BuiltTable,
  built: TableState,
  production: ProductionTable,
): Pick<KeyChanges, 'texts' | 'drop' | 'make'> => {
  const before = (name: string) => production.indexes.find((index) => index.name === name);
  const changed = built.indexes.filter((index) => {
    const old = before(index.name);
    return table.indexes.includes(index.name) && !(old?.isValid === true && old.ddl === index.ddl);
  });
  const gone = production.indexes.filter(
    ({ name, constraint }) =>
      table.evolve !== 'keep' &&
      production.ours.includes(name) &&
      constraint === null &&
      !table.indexes.includes(name),
  );
  const replaced = changed.flatMap(({ name }) => before(name) ?? []);
  return {
    texts: [
      ...changed.map(({ name }) => `index ${name} is created`),
      ...gone.map(({ name }) => `index ${name} is dropped`),
    ],
    drop: [...gone, ...replaced].map((index) => dropIndex(table, index)),
    make: changed.flatMap((index) => makeIndex(table, index, before(index.name))),
  };
};

/**
 * Changes `not null` only in a table that a run made: in other tables it is the decision of their
 * author. Drops it only where an earlier run had set it.
 */
const nullChanges = (
  table: BuiltTable,
  built: TableState,
  production: ProductionTable,
): Pick<KeyChanges, 'texts' | 'drop' | 'make'> => {
  if (isOthers(production)) return { texts: [], drop: [], make: [] };
  const isRequired = ({ columns }: TableState, wanted: string): boolean =>
    columns.some(({ name, notNull }) => name === wanted && notNull);
  const names = built.columns.map(({ name }) => name);
  const ours = production.published?.notNull ?? [];
  const off = names.filter(
    (name) => ours.includes(name) && isRequired(production, name) && !isRequired(built, name),
  );
  const on = names.filter(
    (name) =>
      isRequired(built, name) && production.columns.some((column) => column.name === name && !column.notNull),
  );
  const steps = (columns: readonly string[], verb: string): readonly KeyStep[] =>
    columns.length === 0
      ? []
      : [
          {
            sql: `alter table ${productionName(table)} ${columns.map((name) => `alter column ${quoteName(name)} ${verb} not null`).join(', ')}`,
            failure: `not null of ${columns.length === 1 ? 'column' : 'columns'} ${columns.join(', ')} cannot be changed`,
            hint: 'If nulls are meant to stay, declare the column with .nullable(); otherwise fill them in production, and run again.',
          },
        ];
  return {
    texts: [...on.map((name) => `${name} allows no nulls`), ...off.map((name) => `${name} allows nulls`)],
    drop: steps(off, 'drop'),
    make: steps(on, 'set'),
  };
};

/**
 * Changes constraints, except constraints that no run declared. Proved by
 * test/modes/constraints.test.ts, "keeps one made by hand".
 */
const constraintChanges = (
  { constraints: wanted, ...table }: BuiltTable,
  built: TableState,
  production: ProductionTable,
): Pick<KeyChanges, 'texts' | 'drop' | 'make'> => {
  const found = (state: TableState, name: string) => state.constraints.find((one) => one.name === name);
  const changed = wanted.filter(({ kind, name }) => {
    const old = found(production, name);
    return (
      kind !== 'foreign key' && !(old?.isValid === true && old.definition === found(built, name)?.definition)
    );
  });
  const ours = production.published?.constraints ?? [];
  const gone = production.constraints.filter(
    ({ name, on }) => on === null && ours.includes(name) && wanted.every((one) => one.name !== name),
  );
  const step = (name: string, what: string, verb: string): KeyStep => ({
    sql: `alter table ${productionName(table)} ${what}`,
    failure: `constraint ${name} cannot be ${verb}`,
  });
  const replaced = changed.flatMap(({ name }) => found(production, name) ?? []);
  return {
    texts: [
      ...changed.map(({ kind, name }) => `${kind} ${name} is created`),
      ...gone.map(({ name }) => `constraint ${name} is dropped`),
    ],
    drop: [...gone, ...replaced].map(({ name }) =>
      step(name, `drop constraint ${quoteName(name)}`, 'dropped'),
    ),
    make: changed.map(({ name }) =>
      step(name, `add constraint ${quoteName(name)} ${found(built, name)!.clause}`, 'created'),
    ),
  };
};

/**
 * Returns all changes. Keys and indexes made by hand are kept. Proved by
 * test/modes/publish-keys.test.ts, "keeps an index made by hand".
 */
export const keyChanges = ({ table, builtAs: built, production: found }: BuiltOver): KeyChanges => {
  const production = found!;
  const key = primaryKeyChanges(table, production);
  const indexes = indexChanges(table, built, production);
  const nulls = nullChanges(table, built, production);
  const constraints = constraintChanges(table, built, production);
  const foreign = foreignKeyChanges(table, production.constraints, production.published?.constraints);
  const columns = evolutionOf(table, built.columns, production);
  const attributes = attributeChanges(table, production);
  const alter = columns.messages.map((sql) => ({ sql, failure: 'its columns cannot be altered' }));
  // `not null` is dropped after the primary key, whose columns cannot allow nulls.
  const drop = [...constraints.drop, ...key.drop, ...indexes.drop, ...nulls.drop, ...alter];
  return {
    texts: [
      ...columns.texts,
      ...key.texts,
      ...indexes.texts,
      ...nulls.texts,
      ...constraints.texts,
      ...foreign.drop,
      ...foreign.make,
      ...attributes.statements,
    ],
    blocksReaders:
      drop.length + key.key.length + nulls.make.length + constraints.make.length + foreign.drop.length > 0 ||
      attributes.blocksReaders,
    drop,
    key: key.key,
    make: [
      ...nulls.make,
      ...constraints.make,
      ...indexes.make,
      ...attributes.statements.map((sql) => ({ sql, failure: 'an attribute cannot be set' })),
    ],
  };
};

const keyHint =
  'In a table that runs made, drop what depends on it, run, and create it again; or keep the key, index or column as it is.';

export const doKeySteps = async (
  client: Client,
  { table }: DeclaredTable,
  steps: readonly KeyStep[],
): Promise<void> => {
  for (const { sql, failure, hint = keyHint } of steps)
    try {
      await client.query(sql);
    } catch (cause) {
      if (!isRefusal(cause)) throw cause;
      const { detail = messageOf(cause) } = cause as { detail?: string };
      const problem = `${failure}: ${detail.replaceAll('\n', '; ')}`;
      throw new EtlError('ETL_PUBLISH_SHAPE', { table, problem, hint }, { cause });
    }
};
