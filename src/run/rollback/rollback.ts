// Rolls a pipeline's tables back to an earlier version: those that one run had published, all in one transaction.

import { hostname } from 'node:os';
import {
  forgetKept,
  insertRollback,
  keptTables,
  tablesInProduction,
  tablesOfRun,
  withdrawnBy,
} from '../../checkpoint/kept.ts';
import { latestRun } from '../../checkpoint/ledger.ts';
import { forgetAllFiles, insertPublishedFiles } from '../../checkpoint/published-files.ts';
import { publishedTables } from '../../checkpoint/published-tables.ts';
import { abandonRuns } from '../../checkpoint/take-over.ts';
import { migrate } from '../../db/bookkeeping/migrate.ts';
import { ensureSchema, runQuery, withClient, withTransaction } from '../../db/client.ts';
import { countRows } from '../../db/rows.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { setDurableCommits } from '../../db/session/session-settings.ts';
import type { PipelineSpec } from '../../declaration.ts';
import { EtlError } from '../../errors.ts';
import type { Pipeline } from '../../pipeline/declare/define-pipeline.ts';
import { dropBuildSchema } from '../../publish/build-schema.ts';
import { RowsRefused } from '../../publish/constraints/refused-rows.ts';
import {
  buildSchema,
  builtName,
  keptSchema,
  type BuiltTable,
  type DeclaredTable,
  type TableNames,
} from '../../publish/names.ts';
import { productionTables, type ProductionTable } from '../../publish/production/production.ts';
import { dropServerColumns } from '../../publish/attributes/server-columns.ts';
import { buildFor, choosePublication } from '../../publish/registry.ts';
import { preflight, refuseStrangers } from '../../server/preflight.ts';
import { dropStaleStaging } from '../begin/make-landings.ts';
import { isUnfinished } from '../begin/outset.ts';
import { eachStaged } from '../build/fill-typed.ts';
import { noneOutgoing } from '../begin/sieve.ts';
import { secondsSince, type RunContext } from '../context.ts';
import { callOwed, callPublished } from '../hooks.ts';
import { declaredAs, namesOf, sourceNames } from '../landing.ts';
import { forgetJobs } from '../load/load.ts';
import { deliverOwed } from '../notify/at-end.ts';
import { refuseUnknownTables, type RunOptions } from '../options.ts';
import { createContext, prepareRun } from '../prepare.ts';
import { rowsInProduction } from '../publish/guard.ts';
import { publishTables } from '../publish/publish.ts';
import { takeLock } from '../take-lock.ts';
import { chooseVersions, runBefore, sayBack, type Return } from './choose.ts';

export interface RollbackOptions extends Pick<
  RunOptions,
  | 'databaseUrl'
  | 'connection'
  | 'redis'
  | 'params'
  | 'directory'
  | 'workingDirectory'
  | 'signal'
  | 'onEvent'
  | 'logger'
> {
  /** The run to go back to. Default: that of the version which the newest load has replaced; a second time nothing is done. */
  readonly to?: number;
  /** Tables that go back. Default: all that the run has published. */
  readonly tables?: readonly string[];
}

/** What a rollback has put into production, and what it has taken out. */
export interface RollbackResult {
  readonly pipeline: string;
  /** The run that rolled back; null: production was like that already. */
  readonly runId: number | null;
  /** The run that production is as of now; 0: as before the first run. */
  readonly to: number;
  readonly tables: readonly {
    readonly table: string;
    readonly schema: string;
    readonly rowsBefore: number | null;
    readonly rows: number;
    readonly strategy: string;
  }[];
  /** The run whose rows were taken out; null: none, because `to` is newer than it. The next run refuses to load them again. */
  readonly undone: number | null;
  /** Files that only that run had. */
  readonly withdrawn: readonly string[];
}

/** Rows of a version that the definition of today does not allow. */
const throwUnfit =
  (backs: readonly Return[]) =>
  (cause: unknown): never => {
    if (!(cause instanceof RowsRefused)) throw cause;
    const { table, what: constraint } = cause;
    const { run } = backs.find((back) => back.table.name === table)!.version;
    throw new EtlError(
      'ETL_CONSTRAINT',
      { table, constraint, records: `rows of the version of run ${run}` },
      { cause },
    );
  };

/** What publishing knows of a table that goes back. One that is appended to by now keeps no version: its version is of the time when it
 *  was replaced. */
const declaredBack = (spec: PipelineSpec, { table }: Return): DeclaredTable => ({
  ...declaredAs(spec, table, 'whole'),
  mode: 'replace',
});

/** Rows of a version, in a new table that is completed like production's. */
const copyBack = async (
  { client, spec, report }: RunContext,
  back: Return,
): Promise<{ readonly names: TableNames; readonly rows: number }> => {
  const { table, version } = back;
  const names = namesOf(spec, table);
  const [built, kept] = [builtName(names), version.location];
  await client.query(`create table ${built} (like ${kept})`);
  const { rowCount } = await client.query(`insert into ${built} select * from ${kept}`);
  await dropServerColumns(client, names);
  await buildFor(
    'replace',
    'whole',
  )({
    client,
    names,
    primaryKey: table.primaryKey,
    indexes: table.indexes,
    constraints: table.constraints ?? [],
    making: (_, work) => work(),
    announce: (message) => report.emit({ type: 'notice', message }),
  }).catch(throwUnfit([back]));
  return { names, rows: rowCount ?? 0 };
};

/** The kept table itself, unless its rows are a copy, or have to go into the table that is there. */
const makeReady = async (
  context: RunContext,
  back: Return,
  production: ProductionTable | undefined,
): Promise<BuiltTable> => {
  const { client, spec } = context;
  const { table, version } = back;
  const start = performance.now();
  const { keep = 0 } = table;
  const declared = declaredBack(spec, back);
  const isMoved = version.indexes !== null && !choosePublication(declared, production).writes;
  const { names, rows } = isMoved
    ? {
        names: { ...declared, buildSchema: keptSchema, built: version.name },
        rows: version.rows ?? (await countRows(client, version.location)),
      }
    : await copyBack(context, back);
  return {
    ...declared,
    ...names,
    ...eachStaged(rows, builtName(names)),
    merge: undefined,
    outgoing: noneOutgoing,
    indexes: table.indexes.map(({ name }) => name),
    seconds: secondsSince(start),
    // The version that is replaced stays: a rollback can be rolled back.
    keep: Math.max(1, keep),
    returns: { run: version.run, indexes: isMoved ? version.indexes : [] },
  };
};

/** Records that files and versions are as they were, in the publishing transaction. */
const recordReturn = async (
  { client, spec }: RunContext,
  backs: readonly Return[],
  built: readonly BuiltTable[],
): Promise<void> => {
  const sources = sourceNames(spec);
  const loaded = backs.filter(({ table }) => sources.includes(table.name));
  await runQuery(
    client,
    forgetAllFiles(
      spec.schema,
      loaded.map(({ table }) => table.name),
    ),
  );
  for (const run of new Set(loaded.map(({ version }) => version.run))) {
    const tables = loaded.filter(({ version }) => version.run === run).map(({ table }) => table.name);
    await runQuery(client, insertPublishedFiles(run, spec.schema, tables));
  }
  await runQuery(client, forgetKept(backs.map(({ version }) => version.id)));
  const copied = backs.filter((_, place) => built[place]!.buildSchema !== keptSchema);
  if (copied.length > 0)
    await client.query(`drop table ${copied.map(({ version }) => version.location).join(', ')}`);
};

/** Publishes the versions; returns the number of the run that has done so. */
const goBack = async (context: RunContext, to: number, backs: readonly Return[]): Promise<number> => {
  const { client, spec, epoch } = context;
  const { name: pipeline } = spec;
  await awaitBuildsEnd(client, pipeline);
  await dropBuildSchema(client, pipeline);
  await withTransaction(client, async () => {
    if (!(await ensureSchema(client, buildSchema(pipeline)))) await refuseStrangers(client, pipeline);
  });
  const built: BuiltTable[] = [];
  const found = await productionTables(
    client,
    backs.map((back) => declaredBack(spec, back)),
  );
  for (const [place, back] of backs.entries()) built.push(await makeReady(context, back, found[place]));
  let runId = 0;
  await publishTables(context, built, {
    judge: (plans) => rowsInProduction(client, plans),
    begin: async () => {
      await runQuery(client, abandonRuns(pipeline, 'its pipeline was rolled back'));
      const tables = backs.map(({ table }) => table.name);
      const run = { pipeline, to, tables, epoch, host: hostname(), pid: process.pid };
      runId = (await runQuery(client, insertRollback(run))).rows[0].id;
      return { runId, copied: new Map(), totals: [] };
    },
    record: () => recordReturn(context, backs, built),
  }).catch(throwUnfit(backs));
  return runId;
};

const resultOf = async (
  { client, spec }: RunContext,
  runId: number | null,
  to: number,
): Promise<RollbackResult> => {
  const published = runId === null ? [] : await publishedTables(client, runId);
  const withdrawn = runId === null ? undefined : await withdrawnBy(client, spec.name);
  return {
    pipeline: spec.name,
    runId,
    to,
    tables: published.map(({ table, schema, rowsBefore, rows, strategy }) => ({
      table,
      schema,
      rowsBefore,
      rows,
      strategy,
    })),
    withdrawn: withdrawn?.files.map(({ name }) => name) ?? [],
    undone: withdrawn?.undone ?? null,
  };
};

/** Goes back over one connection, which holds the pipeline's lock. */
const rollBack = async (
  context: RunContext,
  { to: asked, tables: named }: Pick<RollbackOptions, 'to' | 'tables'>,
): Promise<RollbackResult> => {
  const { client, spec } = context;
  const tables = named ?? spec.tables.map(({ name }) => name);
  const kept = await keptTables(client, spec.name);
  const inProduction = await tablesInProduction(client, spec.name, spec.schema);
  const choice = { spec, kept, inProduction, tables };
  const to = asked ?? runBefore(choice);
  const ofRun = await tablesOfRun(client, spec.name, to);
  const backs = chooseVersions(choice, to, ofRun);
  if (asked === undefined && backs.length === 0) sayBack(context, choice);
  const latest = await latestRun(client, spec.name);
  const runId = backs.length === 0 ? null : await goBack(context, to, backs);
  if (runId !== null && isUnfinished(latest)) await forgetJobs(context, latest.id);
  // A process killed right after its commit leaves them.
  if (runId !== null || !isUnfinished(latest)) {
    await dropBuildSchema(client, spec.name);
    await dropStaleStaging(context, []);
  }
  if (runId !== null) await callPublished(context, runId);
  return resultOf(context, runId, to);
};

/**
 * Puts an earlier version of a pipeline's tables into production, all of them in one step; the version that is replaced is kept. The
 * next run refuses to load the withdrawn files again before they, or the definition, have changed. Errors: ETL_ROLLBACK when not
 * all tables have that version, ETL_RUN_LOCKED, those of publishing.
 */
export const rollbackPipeline = async (
  pipeline: Pipeline,
  { to, tables, ...options }: RollbackOptions = {},
): Promise<RollbackResult> => {
  const prepared = await prepareRun(pipeline, options, {}, 'coordinator');
  const { address, settings, spec } = prepared;
  const names = spec.tables.map(({ name }) => name);
  refuseUnknownTables(names, tables, 'tables');
  const result = await withClient(
    address,
    async (client) => {
      const seen = await preflight(client, address, spec);
      await setDurableCommits(client);
      const trust = await migrate(client, seen);
      const context = await createContext(prepared, client, trust);
      await takeLock(context, false);
      await callOwed(context);
      return rollBack(context, { ...(to !== undefined && { to }), ...(tables && { tables }) });
    },
    settings.abort,
  );
  await deliverOwed(prepared);
  return result;
};
