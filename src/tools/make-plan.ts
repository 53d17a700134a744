// Plans a run by executing its steps up to the first step that would change something.

import { loadedTotals } from '../ledger/run/ledger.ts';
import { workedTime } from '../ledger/history/history.ts';
import { migrate, schemaVersions } from '../db/bookkeeping/migrate.ts';
import { withClient, withRollback, type Client } from '../db/client.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { asServerError } from '../db/connect/server-error.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import { namesOfTouched } from '../publish/modes/replace/touched.ts';
import { freeBytesOf } from '../db/session/facts.ts';
import { directAdvice } from '../run/advice.ts';
import { chooseBackend } from '../queue/choose-backend.ts';
import type { OutsetContext } from '../run/context.ts';
import { prepareJudging } from './needs-run.ts';
import { preflight } from '../run/preflight.ts';
import { plural } from '../core/wording.ts';
import { askForEmptied, keepsLoaded, lookAtOutset, reasonsOf, type Outset } from '../run/outset.ts';
import { reportFiles } from '../run/files/held-files.ts';
import { planNeeded, planSources } from '../run/files/plan-sources.ts';
import { readDefinition, type Definition } from '../pipeline/definition.ts';
import { namesOf } from '../db/landing.ts';
import { resolveOptions, type RunOptions, type RunSettings } from '../run/options.ts';
import { refuseIncomplete, refuseOther } from '../run/prepare.ts';
import type { Refusal, RunPlan } from '../run/plan/contract.ts';
import { describePlan, type Findings } from '../run/plan/describe.ts';
import { rehearse } from '../run/plan/rehearse.ts';
import { quoteName } from '../db/sql.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import type { PlannedTable } from '../run/files/planned-table.ts';

const runsCompared = 10;

const bytesOf = ({ files }: PlannedTable): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

interface EarlierRun {
  readonly id: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly advice: readonly string[] | null;
}

/** Returns the last published runs, the newest first. */
const earlierRuns = async (client: Client, pipeline: string): Promise<readonly EarlierRun[]> => {
  const { rows } = await client.query<EarlierRun>(
    `select r.id::float8, r.advice, extract(epoch from ${workedTime})::float8 as seconds, f.bytes
      from etl.run r cross join lateral (
        select coalesce(sum(bytes), 0)::float8 as bytes from etl.source_file where run_id = r.id
      ) f
      where r.pipeline = $1 and r.state = 'published' order by r.id desc limit ${runsCompared}`,
    [pipeline],
  );
  return rows;
};

/** Estimates seconds by the recent run with the most similar size, scaled up to more bytes. */
const foreseenSeconds = (runs: readonly EarlierRun[], planned: readonly PlannedTable[]): number | null => {
  const bytes = planned.reduce((sum, table) => sum + bytesOf(table), 0);
  const distance = (other: number): number => Math.abs(Math.log((other + 1) / (bytes + 1)));
  const [nearest] = runs.toSorted((one, other) => distance(one.bytes) - distance(other.bytes));
  if (nearest === undefined) return null;
  const share = nearest.bytes === 0 ? 1 : Math.max(1, bytes / nearest.bytes);
  return Number((nearest.seconds * share).toFixed(1));
};

/** Returns what the newest run with advice said about tables that are staged without need. */
const foreseenSaving = (runs: readonly EarlierRun[], spec: PipelineSpec): readonly string[] => {
  const newest = runs.find(({ advice }) => advice !== null);
  const said = newest && directAdvice(spec, newest.advice!);
  return said === undefined ? [] : [`by the figures of run ${newest!.id}, ${said}`];
};

interface Known {
  readonly table: string;
  readonly size: number;
  readonly bytes: number;
}

/**
 * Estimates the bytes on disk of staging and built tables, from production's bytes on disk per byte
 * of its files; null: a table has no published files yet.
 */
const foreseenRoom = async (
  client: Client,
  { name, schema, tables }: PipelineSpec,
  planned: readonly PlannedTable[],
): Promise<number | null> => {
  const names = tables.map((table) => table.name);
  const { rows } = await client.query<Known>(
    `select t.name as table, coalesce((
          select sum(pg_total_relation_size(relid)) from pg_partition_tree(to_regclass(t.quoted))
        ), pg_total_relation_size(to_regclass(t.quoted)))::float8 as size,
        (select coalesce(sum(p.bytes), 0) from etl.published_file p
          where p.pipeline = $1 and p.schema_name = $2 and p.table_name = t.name)::float8 as bytes
      from unnest($3::text[], $4::text[]) as t (name, quoted) where to_regclass(t.quoted) is not null`,
    [name, schema, names, names.map((one) => quoteName(schema, one))],
  );
  let needed = 0;
  for (const { name: table } of tables) {
    const known = rows.find((row) => row.table === table);
    const own = planned.find((one) => one.table.name === table);
    if (known === undefined || (own !== undefined && known.bytes === 0)) return null;
    const size = own === undefined ? known.size : (known.size * bytesOf(own)) / known.bytes;
    // Rows are stored twice: in staging, and in the built table.
    needed += own === undefined || own.table.staging === 'none' ? size : 2 * size;
  }
  return Math.round(needed);
};

interface MadePlan {
  readonly plan: RunPlan;
  readonly error: EtlError | undefined;
}

const asRefusal = ({ code, message, hint, exit }: EtlError): Refusal => ({ code, message, hint, exit });

const beginningOf = async (
  looking: OutsetContext,
  { beginning, latest }: Outset,
  findings: Findings,
): Promise<void> => {
  findings.why.push(...reasonsOf(beginning));
  if (beginning.kind === 'new') {
    const isPart = findings.planned.every(({ intake }) => intake.extent === 'part');
    findings.outcome = isPart ? 'load new' : 'load';
    return;
  }
  const loaded = (await loadedTotals(looking.client, latest!.id)).filter(({ bytesRead }) => bytesRead > 0);
  const keeps = keepsLoaded(looking, latest!);
  const tell = (isThere: boolean, where: string): void => {
    const some = loaded.filter(({ table }) => keeps(table) === isThere);
    const records = some.reduce((sum, one) => sum + one.records, 0);
    if (some.length > 0) findings.why.push(`${plural(records, 'record')} of it ${where}`);
  };
  tell(true, 'are in staging');
  tell(false, 'were in staging until the server crashed');
  findings.outcome = 'continue';
  findings.run = beginning.runId;
};

const touchedPartitions = async (
  client: Client,
  { spec }: Definition,
  { planned, partitions }: Findings,
): Promise<void> => {
  for (const { table, intake } of planned) {
    if (meaningOf(table.publish).replacesPartitions !== true || intake.extent === 'whole') continue;
    partitions.set(table.name, await namesOfTouched(client, namesOf(spec, table), intake.outgoing.files));
  }
};

const judge = async (
  client: Client,
  definition: Definition,
  settings: RunSettings,
  findings: Findings,
): Promise<void> => {
  const { spec } = definition;
  const emit = (event: RunEvent): void => void (event.type === 'notice' && findings.why.push(event.message));
  const { looking, judging, past } = await prepareJudging(client, definition, settings, emit);
  findings.planned = await planNeeded(judging);
  reportFiles(findings.planned, looking.report);
  const outset = await lookAtOutset(looking, findings.planned, past, await askForEmptied(client, past));
  if (outset.standing !== undefined) {
    findings.outcome = 'nothing';
    findings.run = outset.standing;
    return;
  }
  await beginningOf(looking, outset, findings);
  const earlier = await earlierRuns(client, spec.name);
  findings.seconds = foreseenSeconds(earlier, findings.planned);
  findings.notices.push(...foreseenSaving(earlier, spec));
  findings.needed = await foreseenRoom(client, spec, findings.planned);
  const { plans, notices, hindered } = await rehearse(judging, findings.planned);
  findings.plans = plans;
  findings.notices.push(...notices, ...(hindered === null ? [] : [`nothing could be prepared: ${hindered}`]));
  findings.prepared = hindered === null;
  await touchedPartitions(client, definition, findings);
};

const judgeOn = async (
  client: Client,
  address: ServerAddress,
  definition: Definition,
  settings: RunSettings,
  findings: Findings,
): Promise<void> => {
  const { spec } = definition;
  const trust = await preflight(client, {
    address,
    backend: chooseBackend(address, settings.redis, process.env),
    spec,
  });
  findings.free = (await freeBytesOf(address)) ?? null;
  const { found, known } = await schemaVersions(client, trust);
  if (found > known) throw new EtlError('ETL_SCHEMA_NEWER', { found, known });
  if (found === known) return judge(client, definition, settings, findings);
  if (found > 0) {
    // A missing schema is created and rolled back. Doing that with an old schema would block runs.
    findings.why.push(`the bookkeeping has version ${found}, and the run changes it to ${known}`);
    findings.planned = await planSources(spec, settings);
    return;
  }
  findings.why.push('no run has used this database');
  await withRollback(client, async () => {
    await migrate(client, trust);
    await judge(client, definition, settings, findings);
  });
};

const onServer = (
  address: ServerAddress,
  definition: Definition,
  settings: RunSettings,
  findings: Findings,
): Promise<void> =>
  withClient(address, (client) => judgeOn(client, address, definition, settings, findings), settings.abort);

const unjudged = async (definition: Definition, settings: RunSettings, findings: Findings): Promise<void> => {
  findings.why.push('there is no server yet; the run sets up an embedded PostgreSQL');
  findings.planned = await planSources(definition.spec, settings);
  findings.outcome = 'load';
};

/**
 * Plans a run of a pipeline, and changes nothing. If the run would fail, the plan contains the
 * error.
 * Errors: those of the definition and its SQL files, ETL_USAGE.
 */
export const makePlan = async (
  pipeline: Pipeline,
  options: RunOptions,
  findServer: () => Promise<ServerAddress | undefined>,
): Promise<MadePlan> => {
  const settings = resolveOptions(options);
  refuseOther(pipeline);
  const definition = await readDefinition(pipeline, settings);
  refuseIncomplete(definition.spec, settings);
  const findings: Findings = {
    outcome: 'unknown',
    run: null,
    why: [],
    notices: [],
    planned: [],
    plans: [],
    partitions: new Map(),
    prepared: false,
    seconds: null,
    needed: null,
    free: null,
  };
  let error: EtlError | undefined;
  let address: ServerAddress | undefined;
  try {
    address = await findServer();
    if (address === undefined) await unjudged(definition, settings, findings);
    else await onServer(address, definition, settings, findings);
  } catch (thrown) {
    settings.abort?.throwIfAborted();
    if (address === undefined && !(thrown instanceof EtlError)) throw thrown;
    error = thrown instanceof EtlError ? thrown : asServerError(address!, thrown);
    findings.outcome = 'refused';
    if (error.code === 'ETL_CONNECT') findings.planned = await planSources(definition.spec, settings);
  }
  const plan = describePlan(definition, settings, findings, error && asRefusal(error));
  return { plan, error };
};
