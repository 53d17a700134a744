// Shared by publications that write rows of some files into the existing table.

import type { Client } from '../../db/client.ts';
import { codeOf } from '../../errors.ts';
import { buildDeclared } from '../build-table.ts';
import type { PublishPlan, Publication, Rest } from '../contract.ts';
import { constraintText } from '../constraints/constraints.ts';
import { DuplicateRows } from '../constraints/duplicates.ts';
import { RowsRefused } from '../constraints/refused-rows.ts';
import { refuseUnfit } from '../evolve.ts';
import { changesOf } from '../in-place.ts';
import { doKeySteps, type KeyStep } from '../keys.ts';
import { refusalOf } from '../refusals.ts';

/** Rows that a declared check refuses. */
const violationOf = (
  { table: { table, constraints } }: PublishPlan,
  cause: unknown,
): RowsRefused | undefined => {
  const { constraint: name } = cause as { constraint?: string };
  const violated = constraints.find((constraint) => constraint.name === name);
  return codeOf(cause) === '23514' && violated?.kind === 'check'
    ? new RowsRefused({ table, what: constraintText(violated), rule: violated }, { cause })
    : undefined;
};

/** Writes rows of each table; the keys and indexes that `write` returns are made when the rows of all tables are in. */
export const applyEach = async (
  client: Client,
  plans: readonly PublishPlan[],
  write: (client: Client, plan: PublishPlan) => Promise<readonly KeyStep[]>,
): Promise<Rest> => {
  const unfinished: { readonly plan: PublishPlan; readonly steps: readonly KeyStep[] }[] = [];
  for (const plan of plans) {
    const steps = await write(client, plan).catch((cause: unknown) => {
      throw cause instanceof DuplicateRows
        ? cause
        : (violationOf(plan, cause) ?? refusalOf(plan.table.table, cause));
    });
    unfinished.push({ plan, steps });
  }
  return {
    finish: async () => {
      for (const { plan, steps } of unfinished) await doKeySteps(client, plan.table, steps);
    },
  };
};

export const beside = {
  writes: true,
  summary: undefined,

  takes: () => true,

  check: refuseUnfit,

  build: buildDeclared,

  blocksReaders: (plan) => changesOf(plan).blocksReaders,

  notice: (plan) => {
    const { schema, table } = plan.table;
    const { texts } = changesOf(plan);
    return texts.length === 0
      ? undefined
      : `${schema}.${table}: writers wait, and readers may also wait: ${texts.join(', ')}`;
  },

  oidInProduction: ({ production }) => production!.oid,
} satisfies Partial<Publication>;
