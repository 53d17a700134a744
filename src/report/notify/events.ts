// Makes the notifications of a run, and enqueues them in the transaction that records the event.

import { testsOfRun } from '../../ledger/run/data-tests.ts';
import { loadedTotals } from '../../ledger/run/ledger.ts';
import { publishedTables } from '../../ledger/production/published-tables.ts';
import { runQuery, type Client } from '../../db/client.ts';
import type { PipelineSpec } from '../../core/declaration.ts';
import type { EtlError } from '../../core/errors/errors.ts';
import type { HookTable } from '../../core/hook.ts';
import type { NotifiedRejects, NotifyEvent, Notification, Receiver } from '../../core/notification.ts';
import { insertNotifications } from './outbox.ts';
import { countsOfTable } from '../../core/counts.ts';

/** Kinds of faults in a notification: a receiver does not need all rejects. */
const rejectGroupsMax = 20;

const notPublished = { rowsBefore: null, rows: null };

export const tablesOf = async (
  client: Client,
  spec: PipelineSpec,
  runId: number,
): Promise<readonly HookTable[]> => {
  const totals = await loadedTotals(client, runId);
  const published = await publishedTables(client, runId);
  return spec.tables.map(({ name: table }) => {
    const { rowsBefore, rows } = published.find((one) => one.table === table) ?? notPublished;
    return { table, schema: spec.schema, ...countsOfTable(totals, table), rowsBefore, rows };
  });
};

const rejectGroups = async (client: Client, runId: number): Promise<readonly NotifiedRejects[]> =>
  (
    await client.query(
      `select g.table_name as "table", g.column_name as "column", g.code, g.records::float8 as records, f.name as file,
          r.line::float8 as line
        from (
          select table_name, column_name, code, count(*) as records, min(id) as first
            from etl.reject where run_id = $1
            group by table_name, column_name, code order by records desc, first limit ${rejectGroupsMax}
        ) g
          join etl.reject r on r.id = g.first
          join etl.source_file f on f.id = r.file_id
        order by g.records desc, g.first`,
      [runId],
    )
  ).rows;

type Data = Notification['data'];

const nothingKnown: Omit<Data, 'pipeline' | 'state'> = {
  run: null,
  rolledBackTo: null,
  startedAt: null,
  tables: [],
  rejects: [],
  tests: [],
  error: null,
};

const notificationOf = (type: NotifyEvent, at: Date, data: Data): Notification => ({
  version: 1,
  type,
  timestamp: at.toISOString(),
  data,
});

const errorOf = ({ code, message, hint }: EtlError): Data['error'] => ({ code, message, hint });

export const failureBefore = (pipeline: string | null, at: Date, error: EtlError): Notification =>
  notificationOf('failed', at, { ...nothingKnown, pipeline, state: 'failed', error: errorOf(error) });

export const oweFailedBefore = async (
  client: Client,
  receivers: readonly Receiver[],
  pipeline: string | null,
  error: EtlError,
): Promise<void> => {
  if (!receivers.some(({ on }) => on.includes('failed'))) return;
  const { rows } = await client.query('select clock_timestamp() as at');
  await runQuery(client, insertNotifications(receivers, failureBefore(pipeline, rows[0].at, error)));
};

export const lateSlot = (
  at: Date,
  {
    pipeline,
    run,
    state,
    ...schedule
  }: Pick<Data, 'pipeline' | 'run' | 'state'> & NonNullable<Data['schedule']>,
): Notification => notificationOf('late', at, { ...nothingKnown, pipeline, run, state, schedule });

interface Ended {
  readonly spec: PipelineSpec;
  readonly receivers: readonly Receiver[];
}

const dataOf = async (
  client: Client,
  { spec }: Ended,
  runId: number,
  state: string,
  error: EtlError | undefined,
): Promise<{ readonly at: Date; readonly data: Data }> => {
  const { rows } = await client.query(
    'select started_at as "startedAt", rolled_back_to::float8 as "rolledBackTo", clock_timestamp() as at from etl.run where id = $1',
    [runId],
  );
  const { startedAt, rolledBackTo, at } = rows[0];
  const tests = (await testsOfRun(client, runId)).filter(({ outcome }) => outcome !== 'passed');
  const data = {
    pipeline: spec.name,
    run: runId,
    state,
    rolledBackTo,
    startedAt: startedAt.toISOString(),
    tables: await tablesOf(client, spec, runId),
    rejects: await rejectGroups(client, runId),
    tests: tests.map(({ table, test, outcome, failures }) => ({ table, test, outcome, failures })),
    error: error === undefined ? null : errorOf(error),
  };
  return { at, data };
};

const oweEnd = async (
  client: Client,
  ended: Ended,
  runId: number,
  state: 'published' | 'failed',
  error?: EtlError,
): Promise<boolean> => {
  const events = [state, 'rejects'] as const;
  const receivers = ended.receivers.filter(({ on }) => events.some((event) => on.includes(event)));
  if (receivers.length === 0) return false;
  const { at, data } = await dataOf(client, ended, runId, state, error);
  const happened = data.rejects.length === 0 ? [state] : events;
  for (const type of happened)
    await runQuery(client, insertNotifications(receivers, notificationOf(type, at, data)));
  return true;
};

/** Returns false if no receiver wants the notification. */
export const owePublished = (
  { client, spec, receivers }: Ended & { readonly client: Client },
  runId: number,
): Promise<boolean> => oweEnd(client, { spec, receivers }, runId, 'published');

export const oweFailed = (client: Client, ended: Ended, runId: number, error: EtlError): Promise<boolean> =>
  oweEnd(client, ended, runId, 'failed', error);
