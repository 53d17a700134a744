// Saves the plan of a run in the ledger after its rehearsal, with the id of its trace.

import { keepPlan } from '../../ledger/run/run-story.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';
import { describeTables } from './describe.ts';
import { plannedRows } from './rows.ts';

/** Takes the trace id from a W3C traceparent, `00-<trace>-<span>-01`. */
const traceIdOf = (traceparent: string | undefined): string | null => traceparent?.split('-')[1] ?? null;

/** `plans` is empty if the server could not say how the tables would be published. */
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
