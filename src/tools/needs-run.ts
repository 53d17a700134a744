// Tells whether a run would have anything to do, as its plan would.

import { fileKey } from '../ledger/run/decide.ts';
import { heldBefore } from '../ledger/production/held-files.ts';
import { readEpoch } from '../ledger/run/epoch.ts';
import type { Client } from '../db/client.ts';
import { lockHolder } from '../db/session/advisory-lock.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import type { RunEvent } from '../core/run-event.ts';
import { askForEmptied, isFullRefresh, lookAtOutset, lookBack, type Past } from '../run/outset.ts';
import type { KnownHeld } from '../run/files/held-files.ts';
import { planNeeded } from '../run/files/plan-sources.ts';
import type { Definition } from '../pipeline/definition.ts';
import type { RunSettings } from '../run/options.ts';
import { lockedError } from '../run/take-lock.ts';

type Looking = RunSettings &
  Definition & {
    readonly client: Client;
    readonly epoch: string;
    readonly report: { readonly emit: (event: RunEvent) => void; readonly built: () => undefined };
  };

type NeedJudging = Looking & {
  readonly known: KnownHeld;
  readonly isFullRefresh: boolean;
  readonly countsGone: true;
};

/** Errors: ETL_RUN_LOCKED. */
export const prepareJudging = async (
  client: Client,
  definition: Definition,
  settings: RunSettings,
  emit: Looking['report']['emit'] = () => undefined,
): Promise<{ readonly looking: Looking; readonly judging: NeedJudging; readonly past: Past }> => {
  const { name } = definition.spec;
  const epoch = (await readEpoch(client)) ?? '';
  const looking = { ...settings, ...definition, client, epoch, report: { emit, built: () => undefined } };
  const { rows: holders } = await client.query(lockHolder, [name, lockSpace]);
  if (holders.length > 0) throw await lockedError(client, name);
  const past = await lookBack(looking);
  const known = { before: await heldBefore(client, name), now: new Map() };
  const judging = {
    ...looking,
    known,
    isFullRefresh: isFullRefresh(looking, past.latest),
    countsGone: true,
  } as const;
  return { looking, judging, past };
};

/**
 * Tells whether a run would have anything to do, or hold back other files than the newest run.
 * Errors: ETL_RUN_LOCKED, and those with which the run would fail before it begins.
 */
export const needsRun = async (
  client: Client,
  definition: Definition,
  settings: RunSettings,
): Promise<boolean> => {
  const { looking, judging, past } = await prepareJudging(client, definition, settings);
  const planned = await planNeeded(judging);
  const outset = await lookAtOutset(looking, planned, past, await askForEmptied(client, past));
  if (outset.standing === undefined) return true;
  const { before } = judging.known;
  const held = planned.flatMap((table) => table.held);
  return held.length !== before.size || held.some((file) => before.get(fileKey(file))?.code !== file.code);
};
