// Makes the plan of a run, as plain data, from what was found.

import type { TableSpec } from '../../core/declaration.ts';
import { hookNames } from '../../core/hook.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { firstOf } from '../../core/wording.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { keepPlan } from '../../ledger/run/run-story.ts';
import type { RunContext } from '../context.ts';
import { plannedRows } from './rows.ts';
import type { Definition } from '../../pipeline/definition.ts';
import { unsetText } from '../publish/at-end.ts';
import type { RunSettings } from '../options.ts';
import type { FilesPlan, Refusal, RunPlan, TablePlan, PublishingPlan, Wait } from './contract.ts';
import { sharedBy, sourceSteps, tableSteps } from './steps.ts';
import { keyChanges } from '../../publish/alter/keys.ts';
import {
  foreignKeyChanges,
  foreignKeysOf,
  addForeignKey,
  targetName,
} from '../../publish/table/foreign-keys.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { replacedText, takenNotice } from '../../publish/plan.ts';
import { differenceOf } from '../../publish/table/shape.ts';
import { productionName } from '../../db/names.ts';
import { waysOf } from '../../publish/modes/registry.ts';
import { isForReaders } from '../../publish/table/dependents.ts';
import { inPlaceReasons } from '../../publish/table/partition-shape.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';

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

const alteration = (plan: PublishPlan): Pick<PublishingPlan, 'ddl' | 'changes'> => {
  const { table, builtAs, production } = plan;
  const { texts, drop, key, make } = keyChanges(plan);
  const foreign = foreignKeyChanges(table, production!.constraints, production!.published?.constraints);
  const statements = [...foreign.drop, ...[...drop, ...key, ...make].map(({ sql }) => sql), ...foreign.make];
  if (isSameTable(plan)) return { ddl: statements, changes: texts };
  const difference = differenceOf(builtAs.columns, production!.columns);
  return { ddl: [], changes: [...(difference === '' ? [] : [`columns: ${difference}`]), ...texts] };
};

const waits = ({ production, strategy, blocksReaders }: PublishPlan): readonly [Wait, Wait] => {
  if (production === undefined) return ['none', 'none'];
  if (!strategy.writes) return ['instant', strategy.holdsWriters ? 'while rows are written' : 'instant'];
  return [blocksReaders ? 'while rows are written' : 'none', 'while rows are written'];
};

const publishingOf = (pipeline: string, plan: PublishPlan): PublishingPlan => {
  const { table, production, strategy } = plan;
  const [readersWait, writersWait] = waits(plan);
  const others = waysOf(table).strategies.filter(({ name }) => name !== strategy.name);
  const notices = [strategy.notice(plan), takenNotice(plan), replacedText(pipeline, plan)].filter(
    (one) => one !== undefined,
  );
  // The strategy may change later, when the rows are known.
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

export interface Findings {
  outcome: RunPlan['outcome'];
  run: number | null;
  readonly why: string[];
  readonly notices: string[];
  planned: readonly PlannedTable[];
  plans: readonly PublishPlan[];
  readonly partitions: Map<string, readonly string[]>;
  prepared: boolean;
  seconds: number | null;
  needed: number | null;
  free: number | null;
}

type TableFindings = Pick<Findings, 'planned' | 'plans' | 'partitions'>;

const namedMax = 20;

const filesOf = ({ files: planned, intake }: PlannedTable, isNothing: boolean): FilesPlan => {
  const files = isNothing ? [] : planned;
  const { listed, added, changed, again, unloaded, gone, goneRows, unchanged } = intake;
  return {
    listed,
    loaded: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    added: { count: added.count, names: added.names },
    changed: { count: changed.count, names: changed.names },
    again: { count: again.count, names: again.names },
    unloaded: { count: unloaded.count, names: unloaded.names },
    gone: { count: gone.count, names: gone.names },
    unchanged,
    goneRows,
  };
};

const partitionSteps = (
  known: readonly string[] | undefined,
  planned: PlannedTable | undefined,
): TablePlan['steps'] => {
  if (known === undefined) return [];
  const parts = [
    ...(known.length === 0
      ? []
      : [`${firstOf(known, namedMax).join(', ')}, which have rows of files that changed or leave`]),
    ...(planned?.files.length === 0 ? [] : ['those that rows of the new and changed files belong to']),
  ];
  const text = parts.length === 0 ? 'none' : `replaced: ${parts.join('; and ')}`;
  return [{ step: 'partitions', text }];
};

const describeTable = (
  { name: pipeline, schema }: Definition['spec'],
  table: TableSpec,
  { planned: all, plans, partitions }: TableFindings,
  shared: ReadonlySet<string>,
  mayShrink: boolean,
  isNothing: boolean,
): TablePlan => {
  const { name, kind } = table;
  const planned = all.find((one) => one.table.name === name);
  const plan = plans.find((one) => one.table.table === name);
  const way =
    table.kind === 'derived'
      ? [{ step: 'rows', text: `${table.transform.path}, from ${table.from.join(', ')}` }]
      : planned === undefined
        ? []
        : sourceSteps(planned, shared);
  return {
    table: name,
    schema,
    kind,
    mode: meaningOf(table.publish).text,
    extent: plan?.table.extent ?? planned?.intake.extent ?? null,
    files: planned === undefined ? null : filesOf(planned, isNothing),
    steps: [...way, ...partitionSteps(partitions.get(name), planned), ...tableSteps(table, mayShrink)],
    publishing: plan === undefined ? null : publishingOf(pipeline, plan),
  };
};

const describeTables = (
  spec: Definition['spec'],
  settings: Pick<RunSettings, 'workers' | 'chunkBytes' | 'allowShrink'>,
  findings: TableFindings,
  isNothing = false,
): readonly TablePlan[] => {
  const shared = sharedBy(findings.planned, settings);
  return spec.tables.map((table) =>
    describeTable(spec, table, findings, shared, settings.allowShrink.includes(table.name), isNothing),
  );
};

const hooksOf = ({ spec, hookTexts }: Definition): RunPlan['hooks'] =>
  hookNames.flatMap((hook) => {
    if (spec.hooks?.[hook] === undefined) return [];
    return [{ hook, call: hookTexts.get(hook)?.file ?? 'a function' }];
  });

const receiversOf = ({ spec: { notify = [] } }: Definition): RunPlan['receivers'] =>
  notify.map(({ channel, url, on }) => ({ channel, receiver: url.name, on }));

export const describePlan = (
  definition: Definition,
  settings: RunSettings,
  findings: Findings,
  refusal: Refusal | undefined,
): RunPlan => {
  const { spec } = definition;
  const { outcome, run, why, prepared, notices, seconds, needed, free } = findings;
  const isShort = needed !== null && free !== null && needed > free;
  const unset = unsetText(spec.notify ?? [], process.env);
  const more = [
    ...(isShort ? ['the disk of the server may not have enough space'] : []),
    ...(unset === undefined ? [] : [unset]),
  ];
  return {
    pipeline: spec.name,
    outcome,
    run,
    why,
    refusal: refusal ?? null,
    prepared,
    notices: [...notices, ...more],
    tables: describeTables(spec, settings, findings, outcome === 'nothing'),
    hooks: hooksOf(definition),
    receivers: receiversOf(definition),
    room: { needed, free },
    seconds,
  };
};

/** W3C traceparent: `00-<trace>-<span>-01`. */
const traceIdOf = (traceparent: string | undefined): string | null => traceparent?.split('-')[1] ?? null;

/** Saves the plan with the run. `plans` is empty if the server could not plan the publication. */
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
