// Shared by strategies that write rows of some files into the existing table.

import type { Client } from '../../db/client.ts';
import { applyEach } from './apply-each.ts';
import { rowsRefusedBy } from '../table/constraints.ts';
import { DuplicateRows } from '../table/duplicates.ts';
import { quoteNames } from '../../db/sql.ts';
import type { PublishPlan, Strategy, Rest, Seen } from './contract.ts';
import { refuseUnfit } from '../alter/evolve.ts';
import { keyChanges } from '../alter/keys.ts';
import { refusalOf } from '../refusals.ts';

/** The server's refusal as our error; rows that a declared check refuses are named later. */
const refused = ({ table: { table, constraints } }: PublishPlan, cause: unknown): unknown => {
  if (cause instanceof DuplicateRows) return cause;
  const checks = constraints.filter(({ kind }) => kind === 'check');
  return rowsRefusedBy(table, checks, cause) ?? refusalOf(table, cause);
};

/** Writes the rows of each table; the keys and indexes that `write` returns are made when the rows of all tables are in. */
export const writeEach = (
  client: Client,
  plans: readonly PublishPlan[],
  write: Parameters<typeof applyEach>[2],
): Promise<Rest> => applyEach(client, plans, write, refused);

/** What SQL sees where some rows leave and others come; `come` selects them, and `isLeaving` judges a row of production (o). */
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
  summary: undefined,

  takes: () => true,

  check: refuseUnfit,

  notice: (plan) => {
    const { schema, table } = plan.table;
    const { texts } = keyChanges(plan);
    return texts.length === 0
      ? undefined
      : `${schema}.${table}: writers wait, and readers may also wait: ${texts.join(', ')}`;
  },

  oidInProduction: ({ production }) => production!.oid,
} satisfies Partial<Strategy>;
