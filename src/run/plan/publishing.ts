// Describes how a rehearsed table is published: by which strategy and why, what is altered, and who
// waits.

import { keyChanges } from '../../publish/alter/keys.ts';
import {
  foreignKeyChanges,
  foreignKeysOf,
  addForeignKey,
  targetName,
} from '../../publish/table/foreign-keys.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { replacedText } from '../../publish/commit/plan.ts';
import { differenceOf } from '../../publish/table/shape.ts';
import { productionName } from '../../db/names.ts';
import { waysOf } from '../../publish/modes/registry.ts';
import { isForReaders } from '../../publish/table/dependents.ts';
import { inPlaceReasons } from '../../publish/table/partition-shape.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import type { PublishingPlan, Wait } from './contract.ts';

/** True if the existing table is kept, whatever happens to its rows. */
const isSameTable = (plan: PublishPlan): boolean =>
  plan.strategy.oidInProduction(plan) === plan.production?.oid;

const whyOf = (plan: PublishPlan): string => {
  const { table, production, strategy } = plan;
  const { mode, extent, partitionBy } = table;
  if (extent === 'part')
    return strategy.name === 'in place'
      ? `partitions cannot be exchanged because of ${inPlaceReasons(table, production!)}`
      : `production has rows of other files, and publish is ${mode.text}`;
  if (production === undefined) return 'there is no table yet';
  if (strategy.name === 'in place')
    return `the table has to be kept because of ${inPlaceReasons(table, production)}`;
  if (partitionBy === undefined) return 'nothing depends on the table';
  return isSameTable(plan)
    ? 'the table is partitioned, and is kept'
    : 'the table is partitioned, and nothing depends on it';
};

/** Returns the statements that create a table that does not exist. */
const creation = ({ table, builtAs }: PublishPlan): readonly string[] => {
  const name = productionName(table);
  const { partitionBy } = table;
  const columns = builtAs.columns.map(
    ({ name: column, type, notNull }) => `${quoteName(column)} ${type}${notNull ? ' not null' : ''}`,
  );
  const divided =
    partitionBy === undefined ? '' : ` partition by ${partitionBy.by} (${quoteName(partitionBy.column)})`;
  const own = builtAs.constraints.filter(({ target }) => target === null);
  return [
    `create table ${name} (${columns.join(', ')})${divided}`,
    ...(table.primaryKey.length === 0
      ? []
      : [`alter table ${name} add primary key (${quoteNames(table.primaryKey)})`]),
    ...builtAs.indexes.filter(({ constraint }) => constraint === null).map(({ ddl }) => ddl),
    ...own.map((one) => `alter table ${name} add constraint ${quoteName(one.name)} ${one.definition}`),
    ...foreignKeysOf(table).map((key) => `alter table ${name} ${addForeignKey(key, targetName(table, key))}`),
  ];
};

/** Describes how the table in production differs from the declared one. */
const alteration = (plan: PublishPlan): Pick<PublishingPlan, 'ddl' | 'changes'> => {
  const { table, builtAs, production } = plan;
  const { texts, drop, key, make } = keyChanges(plan);
  const foreign = foreignKeyChanges(table, production!.constraints, production!.published?.constraints);
  const statements = [...foreign.drop, ...[...drop, ...key, ...make].map(({ sql }) => sql), ...foreign.make];
  if (isSameTable(plan)) return { ddl: statements, changes: texts };
  // A new table replaces the old one, and may have other columns.
  const difference = differenceOf(builtAs.columns, production!.columns);
  return { ddl: [], changes: [...(difference === '' ? [] : [`columns: ${difference}`]), ...texts] };
};

const waits = ({ production, strategy, blocksReaders }: PublishPlan): readonly [Wait, Wait] => {
  if (production === undefined) return ['none', 'none'];
  if (!strategy.writes) return ['instant', strategy.holdsWriters ? 'while rows are written' : 'instant'];
  return [blocksReaders ? 'while rows are written' : 'none', 'while rows are written'];
};

export const publishingOf = (pipeline: string, plan: PublishPlan): PublishingPlan => {
  const { table, production, strategy } = plan;
  const [readersWait, writersWait] = waits(plan);
  const others = waysOf(table).strategies.filter(({ name }) => name !== strategy.name);
  const notices = [strategy.notice(plan), replacedText(pipeline, plan)].filter((one) => one !== undefined);
  // A strategy that depends on the rows of the run is chosen later, when the rows are there.
  const dependents = production?.dependents.filter((one) => !isForReaders(one)) ?? [];
  const free = { ...plan, production: production && { ...production, dependents } };
  const orElse = others.find(({ mayTake }) => mayTake?.(free) === true);
  return {
    strategy: strategy.name,
    orElse: orElse?.name ?? null,
    why: whyOf(plan),
    readersWait,
    writersWait,
    ...(production === undefined ? { ddl: creation(plan), changes: [] } : alteration(plan)),
    notice: notices.length === 0 ? null : notices.join('; '),
  };
};
