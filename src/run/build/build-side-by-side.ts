// Builds all tables of a pipeline side by side, each as soon as the tables that it reads are built.

import { EventEmitter, once, setMaxListeners } from 'node:events';
import type { TableSpec } from '../../core/declaration.ts';
import { lockBuild } from '../../db/session/advisory-lock.ts';
import { whenLost, withClient, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { relaxCommits, setSortMemory } from '../../db/session/session-settings.ts';
import { prerequisites, tableOrder } from '../../publish/table/table-order.ts';
import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { publicationsOf } from '../../ledger/production/published-tables.ts';
import { buildForeignKeys } from '../../publish/aside/make-foreign-keys.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { directTables, namesOf } from '../../db/landing.ts';
import type { RunContext } from '../context.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { withRecords } from '../name-records.ts';
import { bringingTo } from './bringing.ts';
import { buildOne } from './build.ts';
import type { Alongside, Task } from './build-partitions.ts';
import { dropBuilt, renewBuildSchema } from './empty-schema.ts';
import { withStagedStatistics } from './staged-statistics.ts';

type BuildTable = (context: RunContext, table: TableSpec, alongside: Alongside) => Promise<void>;

/**
 * Hands out tasks to sessions: first parts of tables that are being built, then tables whose
 * sources are built.
 */
const createPlan = (
  { spec: { tables }, sqlTexts }: RunContext,
  signal: AbortSignal,
  build: (client: Client, table: TableSpec) => Promise<void>,
) => {
  const waiting = [...tableOrder(tables)];
  const parts: Task[] = [];
  const built = new Set<string>();
  const news = new EventEmitter();
  news.setMaxListeners(0);
  const next = async (): Promise<Task | undefined> => {
    while (built.size < tables.length) {
      const part = parts.shift();
      if (part !== undefined) return part;
      const place = waiting.findIndex((table) =>
        prerequisites(table, tables, sqlTexts.get(table.name)?.text ?? '').every((name) => built.has(name)),
      );
      const [table] = place < 0 ? [] : waiting.splice(place, 1);
      if (table !== undefined)
        return async (client) => {
          await build(client, table);
          built.add(table.name);
          news.emit('news');
        };
      await once(news, 'news', { signal });
    }
    return undefined;
  };
  const alongside: Alongside = async (client, tasks) => {
    let left = tasks.length;
    const failures: unknown[] = [];
    parts.push(
      ...tasks.map((task): Task => async (own) => {
        if (failures.length === 0)
          await task(own).catch((error: unknown) => {
            failures.push(error);
          });
        left -= 1;
        news.emit('news');
      }),
    );
    news.emit('news');
    while (left > 0) {
      const part = parts.shift();
      if (part !== undefined) await part(client);
      else await once(news, 'news', { signal });
    }
    if (failures.length > 0) throw failures[0];
  };
  return { next, alongside };
};

/** Returns true for SQLSTATE 53300: server, database or role allow no further connection. */
const isFull = (error: unknown): boolean =>
  error instanceof EtlError && error.code === 'ETL_CONNECT' && codeOf(error.cause) === '53300';

/** Tables built from fewer bytes of files are built before another session is open. */
const smallBytes = 2 ** 20;

const isSmall = ({ spec, workers, sqlTexts }: RunContext, planned: readonly PlannedTable[]): boolean =>
  spec.tables.length <= workers &&
  sqlTexts.size === 0 &&
  spec.tables.every(({ partitionBy }) => partitionBy === undefined) &&
  planned.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0) < smallBytes;

/**
 * Builds small tables over the coordinator's connection. Otherwise uses at most as many sessions as
 * the run has workers. All stop at the first failure, and when
 * the pipeline's lock is lost: another process may then own the tables.
 */
const sideBySide = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  build: BuildTable,
): Promise<void> => {
  const { address, spec, workers } = context;
  const stop = new AbortController();
  whenLost(context.client, address).catch((error: unknown) => stop.abort(error));
  // A half-built table is always built again, so a draining run stops at once. Proved by
  // signals.test.ts, "is broken off".
  const stops = [stop.signal, context.abort, context.drain];
  const signal = AbortSignal.any(stops.filter((each) => each !== undefined));
  // Every session adds a listener. Node would print a warning from the eleventh listener on.
  setMaxListeners(0, signal);
  const plan = createPlan(context, signal, (client, table) =>
    build({ ...context, client, abort: signal }, table, plan.alongside),
  );
  const buildNext = async (client: Client): Promise<void> => {
    for (let task = await plan.next(); task !== undefined; task = await plan.next()) await task(client);
  };
  if (isSmall(context, planned)) return buildNext(context.client);
  // A partitioned table gives work to every session, other tables to one session each.
  const isPartitioned = spec.tables.some(({ partitionBy }) => partitionBy !== undefined);
  const sessions = isPartitioned ? workers : Math.min(workers, spec.tables.length);

  let opened = 0;
  const work = async (client: Client): Promise<void> => {
    opened += 1;
    await lockBuild(client, spec.name);
    await setSortMemory(client, sessions);
    await buildNext(client);
  };
  // A session that gets no connection is left out; the other sessions build the tables.
  let full: unknown;
  const leave = (error: unknown): void => {
    if (isFull(error)) full = error;
    // The first error closes the other connections, so later errors are only its consequence.
    else stop.abort(error);
  };
  await Promise.all(Array.from({ length: sessions }, () => withClient(address, work, signal).catch(leave)));
  if (stop.signal.aborted) throw stop.signal.reason;
  if (opened === 0) throw full;
};

/**
 * Makes the build schema ready. Returns the publications of production's tables, on which the build
 * is based.
 */
export const prepareBuild = async (context: RunContext): Promise<ReadonlyMap<string, string>> => {
  const { client, spec } = context;
  const [publications] = await askTogether(client, () => [
    publicationsOf(
      client,
      spec.schema,
      spec.tables.map(({ name }) => name),
    ),
    relaxCommits(client),
    // If rows were loaded directly into new tables, the build schema was checked before the load.
    directTables(spec).length === 0 ? renewBuildSchema(context) : dropBuilt(context),
  ]);
  return publications;
};

/**
 * Builds all tables and returns them in the order of their dependencies. Never blocks readers of
 * production: test/modes/build-side-by-side.test.ts, "that read production all the time".
 *
 * Errors: ETL_TRANSFORM, ETL_ROW_DIFFERS, ETL_DUPLICATE_KEY, ETL_CONSTRAINT,
 * ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_NULL, ETL_PUBLISH_REFUSED; ETL_SERVER_LOST.
 */
export const buildTables = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  loadSeconds: ReadonlyMap<string, number>,
  publications: ReadonlyMap<string, string>,
): Promise<readonly BuiltTable[]> => {
  const { client, spec } = context;
  const built = new Map<string, BuiltTable>();
  await withStagedStatistics(context, planned, (statisticsOf) =>
    sideBySide(context, planned, async (session, table, alongside) => {
      const { name } = table;
      const own = { ...session, statisticsOf };
      const bringing = await bringingTo(own, table, planned, built);
      const building = buildOne(own, table, bringing, alongside, loadSeconds.get(name)).catch(
        async (cause: unknown) => {
          throw await withRecords(own, runId, cause, () => namesOf(spec, table, bringing.extent));
        },
      );
      built.set(name, await building);
    }),
  );
  const tables = tableOrder(spec.tables).map(({ name }): BuiltTable => ({
    ...built.get(name)!,
    publications: publications.get(name),
  }));
  await buildForeignKeys(client, tables).catch(async (cause: unknown) => {
    throw await withRecords(context, runId, cause, (name) => built.get(name)!);
  });
  return tables;
};
