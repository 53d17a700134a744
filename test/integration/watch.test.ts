// A worker polls its database over one connection, which is opened again when it is lost; each failure is reported once.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import type { Client } from '../../src/db/client.ts';
import { EtlError } from '../../src/core/errors/errors.ts';
import type { Logger } from '../../src/core/logger.ts';
import { watchDatabase, type Look } from '../../src/worker/watch.ts';
import { useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';

const database = useDatabase();
let over = new AbortController();
let reported: { readonly message: string; readonly code?: string }[] = [];
const report = (fields: object, message: string): void => void reported.push({ ...fields, message });
const logger: Logger = { debug: report, info: report, warn: report, error: report };

afterEach(() => {
  over.abort();
  over = new AbortController();
  reported = [];
});

/** A look that notes which session it was given. */
const noting = (problem: string, everyMs: number) => {
  const pids: number[] = [];
  let failure: Error | undefined;
  const look = async (client: Client): Promise<void> => {
    pids.push((await client.query('select pg_backend_pid() as pid')).rows[0].pid);
    if (failure !== undefined) throw failure;
  };
  const made: Look = { everyMs, problem, look };
  return { pids, look: made, failWith: (error: Error | undefined) => void (failure = error) };
};

const watch = (looks: readonly [Look, ...Look[]], url = database.url) =>
  watchDatabase(addressFromUrl(url), looks, logger, over.signal);

it('all looks share a connection, which is closed after the signal', async () => {
  const [often, seldom] = [noting('often', 5), noting('seldom', 40)];
  const { over: closed, problemOf } = watch([often.look, seldom.look]);
  await until(() => seldom.pids.length >= 3 && often.pids.length > seldom.pids.length);
  expect(new Set([...often.pids, ...seldom.pids]).size).toBe(1);
  expect([problemOf(often.look), problemOf(seldom.look), reported]).toEqual([undefined, undefined, []]);
  over.abort();
  await closed;
  const isThere = async (): Promise<boolean> =>
    (await database.query('select from pg_stat_activity where pid = $1', [often.pids[0]])).rows.length > 0;
  // The server ends a session a moment after it was asked to.
  while (await isThere()) await sleep(5);
});

it('a connection that is lost between two looks is reported once, and another one is opened', async () => {
  const [one, other] = [noting('one', 20), noting('other', 20)];
  watch([one.look, other.look]);
  await until(() => other.pids.length > 0);
  await database.query('select pg_terminate_backend($1)', [one.pids[0]]);
  await until(() => new Set(one.pids).size === 2 && new Set(other.pids).size === 2);
  expect(one.pids.at(-1)).toBe(other.pids.at(-1));
  expect(reported.map(({ code }) => code)).toEqual(['ETL_SERVER_LOST']);
});

it('a look that fails is reported once until it succeeds, and does not stop the other looks', async () => {
  const [good, bad] = [noting('good', 5), noting('bad', 5)];
  const { problemOf } = watch([good.look, bad.look]);
  const problem = new EtlError('ETL_QUEUE_LOST', { queue: 'q', problem: 'gone' });
  bad.failWith(problem);
  await until(() => bad.pids.length >= 3);
  expect(problemOf(bad.look)).toBe('ETL_QUEUE_LOST');
  await until(() => problemOf(good.look) === undefined);
  expect(reported).toEqual([{ code: 'ETL_QUEUE_LOST', message: 'bad' }]);
  bad.failWith(undefined);
  await until(() => problemOf(bad.look) === undefined);
  bad.failWith(problem);
  await until(() => reported.length === 2);
  expect([reported[1]?.message, problemOf(bad.look)]).toEqual(['bad', 'ETL_QUEUE_LOST']);
});

it('a server that is not there is reported once for each look', async () => {
  const [one, other] = [noting('one', 5), noting('other', 5)];
  const { problemOf } = watch([one.look, other.look], 'postgres://nobody@127.0.0.1:1/nothing');
  await until(() => reported.length >= 2);
  await sleep(50);
  expect(reported).toEqual([
    { code: 'ETL_CONNECT', message: 'one' },
    { code: 'ETL_CONNECT', message: 'other' },
  ]);
  expect([problemOf(one.look), one.pids]).toEqual(['ETL_CONNECT', []]);
});
