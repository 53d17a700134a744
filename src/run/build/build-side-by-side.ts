// Builds the tables of a pipeline side by side, each as soon as its sources are built.

import { EventEmitter, once, setMaxListeners } from 'node:events';
import type { TableSpec } from '../../declaration.ts';
import { lockBuild } from '../../db/session/advisory-lock.ts';
import { whenLost, withClient, type Client } from '../../db/client.ts';
import { setSortMemory } from '../../db/session/session-settings.ts';
import { prerequisites, tableOrder } from '../../pipeline/check/table-order.ts';
import { codeOf, EtlError } from '../../errors.ts';
import type { SqlText } from '../../transform/sql-file.ts';
import type { RunContext } from '../context.ts';

type BuildTable = (context: RunContext, table: TableSpec) => Promise<void>;

/** Hands out tables that can be built; `next` waits for one, and returns undefined when none is left. */
const createPlan = (
  tables: readonly TableSpec[],
  sqlTexts: ReadonlyMap<string, SqlText>,
  signal: AbortSignal,
) => {
  const waiting = [...tableOrder(tables)];
  const built = new Set<string>();
  const news = new EventEmitter();
  news.setMaxListeners(0);
  const next = async (): Promise<TableSpec | undefined> => {
    while (waiting.length > 0) {
      const place = waiting.findIndex((table) =>
        prerequisites(table, tables, sqlTexts.get(table.name)?.text ?? '').every((name) => built.has(name)),
      );
      if (place >= 0) return waiting.splice(place, 1)[0];
      await once(news, 'built', { signal });
    }
    return undefined;
  };
  return {
    next,
    done: ({ name }: TableSpec): void => {
      built.add(name);
      news.emit('built');
    },
  };
};

/** The server, the database or the role has no connection left. */
const isFull = (error: unknown): boolean =>
  error instanceof EtlError && error.code === 'ETL_CONNECT' && codeOf(error.cause) === '53300';

/**
 * Builds every table over at most as many connections as the run has workers. The first failure ends the others' work
 * where it is, and all connections are closed when it is thrown.
 *
 * Errors: those of `build`; ETL_SERVER_LOST, also when the connection is lost that holds the pipeline's lock: without it
 * the tables may be somebody else's.
 */
export const sideBySide = async (
  context: RunContext,
  sqlTexts: ReadonlyMap<string, SqlText>,
  build: BuildTable,
): Promise<void> => {
  const { address, spec, workers } = context;
  const stop = new AbortController();
  whenLost(context.client, address).catch((error: unknown) => stop.abort(error));
  // Asked to stop gently, too: what is half built is built again in any case (signals.test.ts, "is broken off").
  const stops = [stop.signal, context.abort, context.drain];
  const signal = AbortSignal.any(stops.filter((each) => each !== undefined));
  // Every session listens; without this Node warns on stderr from the eleventh on.
  setMaxListeners(0, signal);
  const plan = createPlan(spec.tables, sqlTexts, signal);
  const sessions = Math.min(workers, spec.tables.length);

  let opened = 0;
  const work = async (client: Client): Promise<void> => {
    opened += 1;
    await lockBuild(client, spec.name);
    await setSortMemory(client, sessions);
    for (let table = await plan.next(); table !== undefined; table = await plan.next()) {
      await build({ ...context, client, abort: signal }, table);
      plan.done(table);
    }
  };
  // A server that has no slot left for all of them has the tables built over fewer.
  let full: unknown;
  const leave = (error: unknown): void => {
    if (isFull(error)) full = error;
    // The first reason to stop is the one that counts: the others fail because their connections are ended.
    else stop.abort(error);
  };
  await Promise.all(Array.from({ length: sessions }, () => withClient(address, work, signal).catch(leave)));
  if (stop.signal.aborted) throw stop.signal.reason;
  if (opened === 0) throw full;
};
