// Functions for strategies that write rows into the existing table.

import type { Client } from '../../db/client.ts';
import { sequencesLeft } from '../table/owned-sequences.ts';
import { rowsRefusedBy } from '../table/constraints.ts';
import { DuplicateRows } from '../table/duplicates.ts';
import { quoteNames } from '../../db/sql.ts';
import type { PublishPlan, Strategy, Rest, Seen } from './contract.ts';
import { refuseUnfit } from '../alter/evolve.ts';
import { doKeySteps, keyChanges, type KeyStep } from '../alter/keys.ts';
import { publishRefusal } from '../refusals.ts';

/** Returns the error to report. Rows that violate a declared check are named later. */
const refused = ({ table: { table, constraints } }: PublishPlan, cause: unknown): unknown => {
  if (cause instanceof DuplicateRows) return cause;
  const checks = constraints.filter(({ kind }) => kind === 'check');
  return rowsRefusedBy(table, checks, cause) ?? publishRefusal(table, cause);
};

/**
 * Writes each table. `finish` then carries out the steps that `write` returned for keys and
 * indexes.
 */
export const writeEach = async (
  client: Client,
  plans: readonly PublishPlan[],
  write: (client: Client, plan: PublishPlan) => Promise<readonly KeyStep[]>,
  asError = refused,
): Promise<Rest> => {
  const unfinished: { readonly plan: PublishPlan; readonly steps: readonly KeyStep[] }[] = [];
  for (const plan of plans) {
    const steps = await write(client, plan).catch((cause: unknown) => {
      throw asError(plan, cause);
    });
    unfinished.push({ plan, steps });
  }
  return {
    finish: async () => {
      for (const { plan, steps } of unfinished) await doKeySteps(client, plan.table, steps);
    },
  };
};

/**
 * Returns the rows that SQL sees. `isLeaving`: SQL, true for a production row `o` that is deleted.
 */
export const seeExchanged = (
  names: readonly string[],
  production: string,
  come: string,
  isLeaving: string,
): Seen => {
  const there = `select ${quoteNames(names)} from ${production} o`;
  return {
    whole: `${there} where not (${isLeaving}) union all ${come}`,
    new: come,
    old: `${there} where ${isLeaving}`,
  };
};

export const beside = {
  writes: true,

  takes: () => true,

  check: refuseUnfit,

  notice: (plan) => {
    const { schema, table } = plan.table;
    const { texts } = keyChanges(plan);
    const waits = texts.length === 0 ? [] : [`writers wait, and readers may also wait: ${texts.join(', ')}`];
    const all = [...waits, ...sequencesLeft(plan)];
    return all.length === 0 ? undefined : `${schema}.${table}: ${all.join('; ')}`;
  },

  oidInProduction: ({ production }) => production!.oid,
} satisfies Partial<Strategy>;
