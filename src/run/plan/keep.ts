// Keeps the plan of a run, once it is rehearsed, with its trace id; and the notices of the run.

import { keepNotices, keepPlan } from '../../checkpoint/run-story.ts';
import type { Client } from '../../db/client.ts';
import type { PublishPlan } from '../../publish/contract.ts';
import type { PlannedTable } from '../begin/plan.ts';
import type { RunContext } from '../context.ts';
import type { Reporter } from '../report.ts';
import { describeTables } from './describe.ts';
import { plannedRows } from './rows.ts';

/** Of `00-<trace>-<span>-01`, as W3C's Trace Context writes it. */
const traceIdOf = (traceparent: string | undefined): string | null => traceparent?.split('-')[1] ?? null;

/** `plans`: none when the server could not say how the tables would be published. */
export const keepRunPlan = async (
  { client, spec, report, ...settings }: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  plans: readonly PublishPlan[],
): Promise<void> => {
  const described = describeTables(spec, settings, { planned, plans, partitions: new Map() });
  const traceId = traceIdOf(report.trace()?.traceparent);
  await keepPlan(client, runId, described.map(plannedRows), traceId);
};

/** What was said since the last time. Without it the run is as published, or as failed, as with it. */
export const keepSaid = async (
  client: Client,
  { logger, unkept }: Pick<Reporter, 'logger' | 'unkept'>,
  runId: number,
): Promise<void> => {
  const { notices, said, isKept } = unkept();
  if (said === 0) return;
  await keepNotices(client, runId, { notices, said }).then(isKept, (error: unknown) =>
    logger.warn({ error }, 'the notices of the run could not be saved'),
  );
};
