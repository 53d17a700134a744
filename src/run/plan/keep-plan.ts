// Keeps the plan of a run in the ledger, once it is rehearsed, with the id of its trace.

import { keepPlan } from '../../ledger/run/run-story.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';
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
