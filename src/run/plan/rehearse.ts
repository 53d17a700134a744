// Rehearses a run before loading: creates everything without rows, and rolls back.
//
// So the server refuses now what it would refuse after the load. No row is read: with `limit 0`,
// the server checks privileges and calls no function. Production is locked as by a reader, and no
// statement waits long for a lock.
//
// No table is unlogged here, not even staging. If the server crashed before the rollback is in its
// log, the empty file of an unlogged table would make the first recovery fail: "could not create
// file …: File exists".

import { randomBytes } from 'node:crypto';
import { withRollback, type Client, withPath } from '../../db/client.ts';
import { lockStates } from '../../db/retry.ts';
import { quoteName } from '../../db/sql.ts';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import { tableOrder } from '../../publish/table/table-order.ts';
import { evolutionOf } from '../../publish/alter/evolve.ts';
import { doKeySteps } from '../../publish/alter/keys.ts';
import { foreignKeysOf, targetAt } from '../../publish/table/foreign-keys.ts';
import { buildForeignKeys } from '../../publish/aside/make-foreign-keys.ts';
import { checkTargetsOutside } from '../../publish/table/targets-outside.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import {
  authorsPath,
  besideName,
  buildSchema,
  builtName,
  productionName,
  rehearsalName,
} from '../../db/names.ts';
import { checkTargets, planOver } from '../../publish/plan.ts';
import { refuseLacking, refuseTakenNames } from '../../publish/modes/preconditions.ts';
import { probeAttributes } from '../../publish/aside/probe.ts';
import { landingTable } from '../../db/landing.ts';
import { declaredAs } from '../../publish/modes/declared.ts';
import type { ProductionTable } from '../../publish/table/production.ts';
import { isDistributed } from '../../publish/table/distribution.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import type { ForeignKeySpec } from '../../core/constraint.ts';
import { mixedText, mixedWith, planUniformly } from '../../publish/uniform.ts';
import { createLandings } from '../make-landings.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { bringingTo } from '../build/bringing.ts';
import { buildOne } from '../build/build.ts';
import type { BuildContext, RunContext, Work } from '../context.ts';
import { rehearseTests } from '../test-run.ts';
import { isRefusal } from '../../db/connect/server-error.ts';
import { hookNames, type HookName } from '../../core/hook.ts';
import type { SqlText } from '../../db/sql-file.ts';
import { sqlError } from '../hooks.ts';

/** SQLSTATE that shows that the SQL was parsed. Nobody else uses class ZR. */
const readState = 'ZREAD';

/**
 * Precedes a hook's SQL and fails: the server parses the whole query first, and executes nothing of
 * the hook.
 */
const stopFirst = `do $etl$ begin raise exception using errcode = '${readState}'; end $etl$;\n`;

const readStatements = async (client: Client, hook: HookName, sql: SqlText): Promise<void> => {
  await withRollback(client, () => client.query(stopFirst + sql.text)).catch((cause: unknown) => {
    if (codeOf(cause) !== readState)
      throw isRefusal(cause) ? sqlError(hook, sql, cause, stopFirst.length) : cause;
  });
};

const prefix = 'prepare etl_rehearsal as ';

/**
 * Checks names in the hook `before`. Later hooks may use what earlier hooks or publishing create.
 */
const readNames = async (client: Client, path: readonly string[], sql: SqlText): Promise<void> => {
  // The extended protocol accepts only one statement: with several, the server executes none.
  const query = { text: prefix + sql.text, queryMode: 'extended' };
  try {
    await withRollback(client, () => withPath(client, path, () => client.query(query)));
  } catch (cause) {
    // 42601: several statements, or a statement that cannot be prepared.
    if (codeOf(cause) === '42601' || !isRefusal(cause)) return;
    throw sqlError('before', sql, cause, prefix.length);
  }
  await client.query('deallocate etl_rehearsal');
};

const rehearseHooks = async ({
  client,
  spec,
  hookTexts,
}: Pick<RunContext, 'client' | 'spec' | 'hookTexts'>): Promise<void> => {
  for (const hook of hookNames) {
    const sql = hookTexts.get(hook);
    if (sql !== undefined) await readStatements(client, hook, sql);
  }
  const before = hookTexts.get('before');
  if (before !== undefined) await readNames(client, authorsPath(spec), before);
};

type RehearsalContext = BuildContext & Pick<RunContext, 'hookTexts'>;

interface Rehearsal {
  /** Plans in build order; empty if the rehearsal was prevented (`hindered`). */
  readonly plans: readonly PublishPlan[];
  readonly notices: readonly string[];
  /** Why the server could not tell: a lock is held, or a hook may create what is missing. */
  readonly hindered: string | null;
}

const lockMs = 1_000;

/**
 * Returns true if the error does not concern the pipeline: a lock was held, or resources were
 * short.
 */
const isHindrance = (state: string): boolean => lockStates.has(state) || state.startsWith('53');

const unknownName = new Set(['42P01', '42703', '42883', '3F000', '42704']);

/** Returns what prevented the rehearsal; undefined if the error refuses the pipeline. */
const hindranceOf = (error: unknown, mayBeMade: boolean): string | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const state = codeOf(cause) ?? '';
    if (isHindrance(state)) return `${state} ${messageOf(cause)}`;
    if (mayBeMade && unknownName.has(state)) return `${messageOf(cause)}; a hook may create it first`;
  }
  return undefined;
};

/**
 * Tries foreign keys from and to kept tables, on the rehearsed tables, so that nobody waits for
 * locks.
 */
const rehearseForeignKeys = async (client: Client, built: readonly BuiltTable[]): Promise<void> => {
  const isTried = (table: BuiltTable, key: ForeignKeySpec): boolean => {
    const target = built[targetAt(table, key, built)];
    // New rows for a distributed table that stays are local, and Citus has no key between the two.
    if (target !== undefined && isDistributed(target) && table.extent !== target.extent) return false;
    return table.extent === 'part' || target?.extent !== 'whole';
  };
  const others = built.map((table): BuiltTable => {
    const constraints = foreignKeysOf(table).filter((key) => isTried(table, key));
    return { ...table, extent: 'whole', constraints };
  });
  await buildForeignKeys(client, others);
};

const rehearseEvolution = async (client: Client, plan: PublishPlan): Promise<void> => {
  const { table, builtAs, production } = plan;
  if (production === undefined || !plan.strategy.writes) return;
  const copy = { ...table, schema: table.buildSchema, table: besideName(table.table, 'evolved') };
  const { messages } = evolutionOf(copy, builtAs.columns, production);
  if (messages.length === 0) return;
  await client.query(`create table ${productionName(copy)} (like ${productionName(table)} including all)`);
  await doKeySteps(
    client,
    table,
    messages.map((sql) => ({ sql, failure: 'its columns cannot be altered' })),
  );
  await client.query(`set local lock_timeout = ${lockMs}`);
};

/**
 * Checks production tables. Columns that SQL makes are not known yet; the build checks them.
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED, ETL_ATTRIBUTE_REFUSED.
 */
const checkProduction = async (
  { client, spec }: Work,
  planned: readonly PlannedTable[],
): Promise<ReadonlyMap<string, ProductionTable | undefined>> => {
  const targets = spec.tables.map((table) => {
    const extent = planned.find((one) => one.table === table)?.intake.extent ?? 'whole';
    const hasColumns = table.kind === 'source' && table.transform === undefined;
    const like = hasColumns ? landingTable(spec, table) : undefined;
    return { table: declaredAs(spec, table, extent), like };
  });
  const found = await checkTargets(client, targets);
  for (const { table, like } of targets) await probeAttributes(client, table, like);
  return new Map(targets.map(({ table }, index) => [table.table, found[index]]));
};

/** Creates the rehearsal's build schema, if the role may; returns the name to rehearse with. */
const makeRoom = async (client: Client): Promise<string> => {
  const { rows } = await client.query(
    `select set_config('lock_timeout', $1, true), has_database_privilege(current_database(), 'create') as "mayCreate"`,
    [`${lockMs}`],
  );
  // Two pipelines that rehearse here wait for each other if their tables have equal names.
  if (!rows[0].mayCreate) return rehearsalName;
  // Names of pipelines do not end in an underscore, so this schema's name is free.
  const name = `r${randomBytes(3).toString('hex')}_`;
  await client.query(`create schema ${quoteName(buildSchema(name))}`);
  return name;
};

const rehearseAll = async (
  context: RehearsalContext,
  planned: readonly PlannedTable[],
): Promise<readonly PublishPlan[]> => {
  const { client } = context;
  const spec = { ...context.spec, name: await makeRoom(client) };
  const aside = { ...context, spec };
  await createLandings(aside, planned, 'logged');
  const production = await checkProduction(aside, planned);
  const built = new Map<string, BuiltTable>();
  for (const table of tableOrder(spec.tables)) {
    const bringing = await bringingTo(context, table, planned, built);
    const rehearsed = { ...bringing, isRehearsal: true } as const;
    built.set(table.name, await buildOne(aside, table, rehearsed, () => Promise.resolve()));
  }
  const tables = [...built.values()];
  await buildForeignKeys(client, tables);
  const found = tables.map(({ table }) => production.get(table));
  const freely = await planOver(client, tables, () => Promise.resolve(found));
  const isFree = spec.snapshotWaitMs === false;
  const plans = isFree ? freely : await planUniformly(client, tables, freely);
  const mixed = isFree ? undefined : mixedWith(plans);
  if (mixed !== undefined) context.report.emit({ type: 'notice', message: mixedText(plans, mixed) });
  await rehearseForeignKeys(client, tables);
  for (const table of tables)
    if (context.sqlTexts.has(table.table)) await checkTargetsOutside(client, table, tables, builtName(table));
  for (const plan of plans) await rehearseEvolution(client, plan);
  await rehearseTests(aside, tables);
  return plans;
};

/**
 * Rehearses the run and plans its publication. Changes nothing. `hooks`: hooks not called yet.
 * Errors: those of building and publishing that need no row, ETL_TEST_REFUSED, ETL_HOOK.
 */
export const rehearse = async (
  context: RehearsalContext,
  planned: readonly PlannedTable[],
  hooks: readonly ('before' | 'after')[] = ['before', 'after'],
): Promise<Rehearsal> => {
  const { client, spec } = context;
  const notices: string[] = [];
  const emit: BuildContext['report']['emit'] = (event) =>
    void (event.type === 'notice' && notices.push(event.message));
  const quiet = { ...context, report: { emit, built: () => undefined } };
  try {
    const plans = await withRollback(client, async () => {
      const made = await rehearseAll(quiet, planned);
      if (hooks.includes('before')) await rehearseHooks(quiet);
      // The hook `before` may free taken names and grant missing privileges.
      if (hooks.includes('before') && spec.hooks?.before !== undefined) return made;
      await refuseTakenNames(client, made);
      await refuseLacking(client, made);
      return made;
    });
    return { plans, notices, hindered: null };
  } catch (error) {
    const hindered = hindranceOf(
      error,
      hooks.some((hook) => spec.hooks?.[hook] !== undefined),
    );
    if (hindered === undefined) throw error;
    return { plans: [], notices, hindered };
  }
};
