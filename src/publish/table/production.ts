// Describes production tables: columns, indexes, dependents, and what runs recorded.

import { askPrepared, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import {
  selectColumnUsers,
  selectDependents,
  selectTargets,
  withReason,
  type Dependent,
} from './dependents.ts';
import { distributionOf, isDistributed, isMadeByCitus, type FoundDistribution } from './distribution.ts';
import { selectCatalogues, type Catalogues } from './extensions.ts';
import { attributeList } from './attributes.ts';
import { serverColumnsOf } from './server-columns.ts';
import { foreignKeyChanges } from './foreign-keys.ts';
import type { TableNames } from '../../db/names.ts';
import type { DeclaredTable } from './tables.ts';
import { partitioningOf, type FoundPartitioning } from './partitioning.ts';
import { withoutLinks } from './links.ts';
import { rowSecurityOf, type RowSecurity } from './row-security.ts';
import { viewList, type ViewOver } from './views.ts';
import {
  columnList,
  constraintList,
  sequenceList,
  ownedSequenceList,
  type OwnedSequence,
  indexList,
  wantedTables,
  type TableState,
} from './table-state.ts';

/**
 * Recorded by the last run that published the table. Null: an older version of sluice did not
 * record it.
 */
export interface PublishedShape {
  readonly run: number;
  readonly rows: number;
  /** False if runs only wrote rows into an existing table. */
  readonly isMade: boolean;
  readonly columns: readonly string[] | null;
  readonly notNull: readonly string[] | null;
  readonly primaryKey: readonly string[] | null;
  readonly constraints: readonly string[] | null;
}

export interface Partitioning extends FoundPartitioning {
  readonly partitions: readonly ProductionPartition[];
}

/** A partition. `dependents` leaves out what every partition gets from its table. */
export type ProductionPartition = ProductionTable & FoundPartitioning['partitions'][number];

export interface ProductionTable extends TableState {
  readonly oid: number;
  /** pg_class.relkind: r a table, p a partitioned table. Other kinds are refused. */
  readonly kind: string;
  /** Null: the current user. */
  readonly owner: string | null;
  readonly dependents: readonly Dependent[];
  /** `views` and `security` are read for partitioned tables only. */
  readonly views: readonly ViewOver[];
  readonly security: RowSecurity | null;
  /** Hash of dependents and grants, which others can change in spite of a lock on the table. */
  readonly fingerprint: string;
  /** True if a foreign key of another table points here, so that rows must be replaced by key. */
  readonly isReferenced: boolean;
  /** Undefined: no run has published this table (by its oid). */
  readonly published: PublishedShape | undefined;
  /** Pipeline of the last run that published the table; null: none, or the run was deleted. */
  readonly publishedBy: string | null;
  readonly ownedSequences: readonly OwnedSequence[];
  readonly columnUsers: readonly { readonly column: string; readonly name: string }[];
  readonly attributes: Readonly<Record<string, string>>;
  /** True since PostgreSQL 17: the server can change the expression of a generated column. */
  readonly setsExpressions: boolean;
  readonly locksMax: number;
  /** Null: a local table. */
  readonly distribution: FoundDistribution | null;
  /** For messages; from the page count of the last vacuum or analyze. */
  readonly size: string;
  readonly ours: readonly string[];
  /** Missing unless the table is partitioned and declared so. */
  readonly partitioning?: Partitioning | undefined;
}

/** Thrown if a table has changed since the plan; publishing then starts over. */
export class ProductionChanged extends Error {}

/** SQL: true if the strategy publishes all rows of the table. */
export const bringsAllRows = `strategy not in ('append', 'merge', 'history')`;
/** SQL: true if the strategy creates the table, or its partitions; others write into an existing one. */
const makesTable = `${bringsAllRows} and strategy <> 'in place'`;

/** SQL for what only partitioned tables have, and what other tables have instead. */
const ofPartitioned = (isAny: boolean | null, oid: string): string =>
  isAny
    ? `case when s.relkind = 'p' then ${viewList(oid)} else '[]' end as views,
      case when s.relkind = 'p' then ${rowSecurityOf(oid)} end as security, ${partitioningOf(oid)} as partitioning`
    : `'[]'::json as views, null::json as security, null::json as partitioning`;

const selectProduction = (tables: readonly TableNames[], has: Described): string => `
  ${selectTargets(tables, has)},
  dependent (oid, kind, name) as (${selectDependents(has)}),
  hanging as (
    select oid, json_agg(json_build_object('kind', kind, 'name', name) order by kind, name) as dependents
      from dependent group by oid
  ),
  users as (${selectColumnUsers}),
  -- Materialized, as is "indexed": the record grows with every run, and the server
  -- would read all of it again for each partition.
  recorded as materialized (
    select distinct on (p.schema_name, p.table_name, p.table_oid) p.schema_name, p.table_name, p.table_oid, p.run_id,
        json_build_object('run', coalesce(p.version, p.run_id), 'rows', p.rows, 'columns', p.columns, 'notNull', p.not_null,
          'primaryKey', p.primary_key, 'constraints', p.constraints, 'isMade', bool_or(${makesTable})
            over (partition by p.schema_name, p.table_name, p.table_oid)) as published
      from etl.published_table p join target t on t.schema = p.schema_name and t.name = p.table_name
      order by p.schema_name, p.table_name, p.table_oid, p.published_at desc, p.run_id desc
  ),
  indexed as materialized (
    select p.schema_name, p.table_name, array_agg(distinct index) as ours
      from etl.published_table p join target t on t.schema = p.schema_name and t.name = p.table_name, unnest(p.indexes) as index
      group by p.schema_name, p.table_name
  )
  select m.*, s.oid, coalesce(u.users, '[]') as "columnUsers", pg_size_pretty(greatest(s.relpages, 0)::bigint * current_setting('block_size')::int) as size, s.relkind as kind, nullif(pg_get_userbyid(s.relowner), current_user) as owner,
      coalesce(h.dependents, '[]') as dependents, p.published, (select pipeline from etl.run where id = p.run_id) as "publishedBy", coalesce(i.ours, '{}') as ours,
      ${columnList('s.oid')} as columns, ${indexList('s.oid', "format('%I.%I', s.schema, s.name)")} as indexes,
      ${constraintList('s.oid')} as constraints, ${attributeList('s.oid')} as attributes, ${sequenceList('s.oid')} as sequences,
      ${ownedSequenceList('s.oid')} as "ownedSequences",
      ${ofPartitioned(has.isPartitioned, 's.oid')}, ${distributionOf('s.oid', has)} as distribution,
      current_setting('server_version_num')::int >= 170000 as "setsExpressions", current_setting('max_locks_per_transaction')::int
        * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int) as "locksMax"
    from target s join mark m on m.place = s.place left join hanging h on h.oid = s.oid left join users u on u.oid = s.oid
      left join recorded p on p.schema_name = s.schema and p.table_name = s.name and p.table_oid = s.oid
      left join indexed i on i.schema_name = s.schema and i.table_name = s.name
    order by s.place`;

/** True if a person added the primary key to a table that we created without a primary key. */
const isOwnKey = (columns: readonly string[], published: PublishedShape | undefined): boolean =>
  columns.length > 0 && (published === undefined || published.primaryKey?.length === 0);

type Unpartitioned = Omit<ProductionTable, 'partitioning'> & {
  readonly partitioning: FoundPartitioning | null;
};

type Found = Omit<Unpartitioned, 'isReferenced' | 'published'> & {
  readonly place: number;
  readonly published: PublishedShape | null;
};

/** With `evolve: 'keep'`, a table counts as made by people, whatever runs made of it. */
const recordedFor = (
  { evolve }: DeclaredTable,
  recorded: PublishedShape | null,
): PublishedShape | undefined =>
  recorded !== null && evolve === 'keep'
    ? { ...recorded, isMade: false, columns: null, notNull: null, primaryKey: null, constraints: null }
    : (recorded ?? undefined);

const asProduction = (table: DeclaredTable, found: Found): Unpartitioned => {
  const { place: _, published: recorded, ...described } = found;
  const published = recordedFor(table, recorded);
  const declared = new Set([...table.constraints.map(({ name }) => name), ...(published?.constraints ?? [])]);
  const numbered = new Set(serverColumnsOf(table.attributes).map(({ name }) => name));
  const sequences = new Set(
    found.sequences.filter(({ column }) => numbered.has(column)).map(({ text }) => text),
  );
  const key = found.indexes.find(({ isPrimary }) => isPrimary);
  const isKeyOwn = table.primaryKey.length === 0 && isOwnKey(key?.columns ?? [], published);
  const others = found.dependents.filter(
    ({ kind, name }) =>
      !(kind === 'constraint' && declared.has(name)) &&
      !(kind === 'identity' && sequences.has(name)) &&
      !(isDistributed(table) && isMadeByCitus({ kind, name })),
  );
  // Partitions are replaced with the foreign keys of their table; a changed key keeps the table.
  const changes = foreignKeyChanges(table, found.constraints, published?.constraints);
  const isUnlike = table.partitionBy !== undefined && changes.drop.length + changes.make.length > 0;
  const dependents = [
    ...others,
    ...(isKeyOwn ? [{ kind: 'primary key', name: key!.name }] : []),
    ...(isUnlike ? [{ kind: 'foreign key to', name: 'a different table' }] : []),
  ];
  // A foreign key of the table to itself is deferred, and the server refuses `alter table` while
  // its checks are pending.
  const refersToItself = found.constraints.some(({ name, on }) => on === found.oid && declared.has(name));
  const isReferenced =
    dependents.some((dependent) => dependent.kind === 'foreign key') ||
    (refersToItself && table.primaryKey.length > 0);
  return { ...described, dependents, isReferenced, published };
};

/** Leaves out `size` from comparisons, because autovacuum updates page counts. */
const counting = (key: string, value: unknown): unknown => (key === 'size' ? undefined : value);

/**
 * Compares everything but the size. Proved by test/modes/touched.test.ts, "autovacuum has looked".
 */
export const isSame = (a: ProductionTable | undefined, b: ProductionTable | undefined): boolean =>
  JSON.stringify(a, counting) === JSON.stringify(b, counting);

const ofItsTable = new Set(['inheritance', 'primary key']);

/** SQL: null if none of the tables exists. */
const isAnyPartitioned = (tables: readonly TableNames[]): string =>
  `(select bool_or(c.relkind = 'p') from ${wantedTables(tables)} join pg_namespace n on n.nspname = w.schema
    join pg_class c on c.relnamespace = n.oid and c.relname = w.name)`;

interface Described extends Catalogues {
  readonly isPartitioned: boolean | null;
}

const lastFound = new WeakMap<Client, Described>();

/** Returns what `productionTables` found on this connection last. */
export const foundCatalogues = (client: Client): Catalogues => lastFound.get(client)!;

/** Guesses before the first look, so that tables are described in the same round trip. */
const expected = (client: Client, tables: readonly DeclaredTable[]): Described => ({
  schemaPublications: client.serverMajor >= 15,
  hypertables: false,
  citusTables: false,
  citusSchemas: false,
  isPartitioned: tables.some(({ partitionBy }) => partitionBy !== undefined),
});

const describe = async (
  client: Client,
  has: Described,
  tables: readonly DeclaredTable[],
  stays?: Dependent,
): Promise<readonly (Unpartitioned | undefined)[]> => {
  if (tables.length === 0) return [];
  const { rows } = await askPrepared<Found>(client, selectProduction(tables, has));
  const found = new Map(rows.map((row) => [row.place, row]));
  return tables.map((table, index) => {
    const row = found.get(index + 1);
    return row && withReason(table, asProduction(table, row), stays);
  });
};

/**
 * Reads production tables; undefined for a table that does not exist. `stays`: a reason to keep
 * tables.
 */
export const productionTables = async (
  client: Client,
  tables: readonly DeclaredTable[],
  stays?: Dependent,
): Promise<readonly (ProductionTable | undefined)[]> => {
  if (tables.length === 0) return [];
  const guess = lastFound.get(client) ?? expected(client, tables);
  const [{ rows }, guessed] = await askTogether(client, () => [
    askPrepared<Described & object>(
      client,
      `select ${selectCatalogues}, ${isAnyPartitioned(tables)} as "isPartitioned"`,
    ),
    // The server takes twenty milliseconds to plan selectProduction(), with partitioned tables ten more.
    guess.isPartitioned === null ? Promise.resolve([]) : describe(client, guess, tables, stays),
  ]);
  const has = rows[0]!;
  lastFound.set(client, has);
  if (has.isPartitioned === null) return tables.map(() => undefined);
  const isGuessed = JSON.stringify(guess) === JSON.stringify(has);
  const found = withoutLinks(tables, isGuessed ? guessed : await describe(client, has, tables, stays));
  const partitionsOf = ({ partitionBy, ...table }: DeclaredTable, index: number): DeclaredTable[] =>
    (partitionBy === undefined ? [] : (found[index]?.partitioning?.partitions ?? [])).map(
      ({ schema, name }) => ({ ...table, schema, table: name }),
    );
  const described = (await describe(client, has, tables.flatMap(partitionsOf))).values();
  return found.map((one, index): ProductionTable | undefined => {
    if (one === undefined) return undefined;
    const { partitioning, ...production } = one;
    if (partitioning === null || tables[index]!.partitionBy === undefined) return production;
    const partitions = partitioning.partitions.flatMap((known): ProductionPartition[] => {
      const partition = described.next().value;
      if (partition === undefined) return [];
      const dependents = partition.dependents.filter(({ kind }) => !ofItsTable.has(kind));
      return [{ ...partition, partitioning: undefined, dependents, ...known }];
    });
    return { ...production, partitioning: { ...partitioning, partitions } };
  });
};
