// Applies a strategy that writes into existing tables: one after the other, and their keys and indexes when all rows are in.

import type { Client } from '../../db/client.ts';
import type { PublishPlan, Rest } from './contract.ts';
import { doKeySteps, type KeyStep } from '../alter/keys.ts';

/** `write` returns the keys and indexes that have yet to be made; `refused` words what it throws. */
export const applyEach = async (
  client: Client,
  plans: readonly PublishPlan[],
  write: (client: Client, plan: PublishPlan) => Promise<readonly KeyStep[]>,
  refused: (plan: PublishPlan, cause: unknown) => unknown,
): Promise<Rest> => {
  const unfinished: { readonly plan: PublishPlan; readonly steps: readonly KeyStep[] }[] = [];
  for (const plan of plans) {
    const steps = await write(client, plan).catch((cause: unknown) => {
      throw refused(plan, cause);
    });
    unfinished.push({ plan, steps });
  }
  return {
    finish: async () => {
      for (const { plan, steps } of unfinished) await doKeySteps(client, plan.table, steps);
    },
  };
};
