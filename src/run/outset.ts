// Decides how a run would begin: nothing to do, continue an unfinished run, or write a new one.

import { recorrectedTables } from '../ledger/rejects/corrections.ts';
import { decideBeginning, fileKey, type Beginning, type KnownFile } from '../ledger/run/decide.ts';
import { latestRun, loadedChunks, loadedTotals, runFiles, type LatestRun } from '../ledger/run/ledger.ts';
import { fenceRun } from '../ledger/run/take-over.ts';
import { runQuery, type Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { directTables, landingTable } from '../db/landing.ts';
import type { RunSettings } from './options.ts';
import { existingLandings } from './make-landings.ts';
import { versionKey, withdrawnBy, type Withdrawn } from '../ledger/production/kept.ts';
import { countsOfTable } from '../core/counts.ts';
import { EtlError } from '../core/errors/errors.ts';
import { firstOf, plural } from '../core/wording.ts';
import { countRows, mayHaveRows } from '../db/rows.ts';
import { quoteName } from '../db/sql.ts';
import type { OutsetContext } from './context.ts';
import type { PlannedTable } from './files/planned-table.ts';

interface FilledTable {
  readonly schema: string;
  readonly table: string;
  readonly rows: number;
}

interface PublishedRun {
  readonly id: number;
  /** Tables that the run left with rows. */
  readonly filled: readonly FilledTable[];
}

type Looking = Pick<OutsetContext, 'client' | 'spec' | 'hashes'>;

/**
 * Returns the newest published run, if it has this definition and production still has its tables
 * (by oid). A definition that changes nothing of its tables but rows may be another one.
 */
const asPublished = async ({ client, spec, hashes }: Looking): Promise<PublishedRun | undefined> => {
  const { rows } = await client.query(
    `select u.id::float8 as id, array(
        select json_build_object('schema', schema_name, 'table', table_name, 'rows', rows) from etl.published_table
          where run_id = u.id and rows > 0 order by table_name
      ) as filled
    from (
      select * from etl.run where pipeline = $1 and state = 'published' order by id desc limit 1
    ) u
    where (u.definition_hash = $2 or $5) and not exists (
      select from unnest($3::text[]) as wanted (name)
      left join etl.published_table p on p.run_id = u.id and p.table_name = wanted.name
      left join pg_class c on c.oid = p.table_oid and c.relname = wanted.name
      left join pg_namespace n on n.oid = c.relnamespace and n.nspname = $4
      where n.oid is null)`,
    [
      spec.name,
      hashes.definition,
      spec.tables.map(({ name }) => name),
      spec.schema,
      spec.tables.every(({ evolve }) => evolve === 'keep'),
    ],
  );
  return rows[0];
};

/** Returns the first table that the run left with rows and that has none now. */
type EmptiedTable = () => FilledTable | undefined;

/**
 * Asks whether tables were emptied, before it is known whether the run needs the answer: an error
 * is thrown only where the answer is used.
 */
export const askForEmptied = (client: Client, { published }: Past): Promise<EmptiedTable> => {
  const { filled = [] } = published ?? {};
  const asked = askTogether(client, () =>
    filled.map(({ schema, table }) => mayHaveRows(client, quoteName(schema, table))),
  );
  return asked.then(
    (haveRows) => () => filled.find((_, place) => !haveRows[place]),
    (error: unknown) => () => {
      throw error;
    },
  );
};

/**
 * Returns the published run `runId` if there is nothing to do, otherwise undefined. Proved by
 * test/modes/publish-protects.test.ts, "is loaded again".
 */
const standingRun = (
  { report }: OutsetContext,
  planned: readonly PlannedTable[],
  published: PublishedRun | undefined,
  emptiedTable: EmptiedTable,
): number | undefined => {
  if (published === undefined) return undefined;
  if (planned.some(({ intake }) => intake.hasWork)) return undefined;
  const { id: runId } = published;
  const emptied = emptiedTable();
  if (emptied === undefined) return runId;
  const { schema, table, rows: had } = emptied;
  const message = `${schema}.${table} is empty, though run ${runId} published ${plural(had, 'row')}; it is loaded again`;
  report.emit({ type: 'notice', message });
  return undefined;
};

const filesShown = 5;

/**
 * Refuses to load the same files as a rolled-back run again, unless files or definition have
 * changed since. Errors: ETL_ROLLED_BACK.
 */
const refuseWithdrawn = (
  { spec, hashes }: Pick<OutsetContext, 'spec' | 'hashes'>,
  planned: readonly PlannedTable[],
  withdrawn: Past['withdrawn'],
): void => {
  if (withdrawn === undefined || withdrawn.definitionHash !== hashes.definition) return;
  const { run, undone, files } = withdrawn;
  const listed = new Set(
    planned.flatMap(({ table, files: listedFiles }) =>
      listedFiles.map((file) => versionKey(table.name, file)),
    ),
  );
  const again = files.filter(({ key }) => listed.has(key)).map(({ name }) => name);
  if (files.length > 0 && again.length === 0) return;
  const problem =
    again.length === 0
      ? 'its definition is the same'
      : `${firstOf(again, filesShown).join(', ')}: unchanged since`;
  throw new EtlError('ETL_ROLLED_BACK', { pipeline: spec.name, run, undone, problem });
};

export interface Outset {
  readonly latest: LatestRun | undefined;
  readonly beginning: Beginning;
  readonly isAsItWas: boolean;
  readonly standing: number | undefined;
}

type Asked = Pick<RunSettings, 'fullRefresh' | 'fresh'>;

const startsOver = ({ fullRefresh, fresh }: Asked): boolean => fullRefresh || fresh;

export const isUnfinished = (run: LatestRun | undefined): run is LatestRun =>
  run !== undefined && run.state !== 'published';

/**
 * True if everything is loaded again: on request, or as in the unfinished run, unless that failed
 * with ETL_ROWS_LOST. Then the next run adds what is missing.
 */
export const isFullRefresh = (asked: Asked, latest: LatestRun | undefined): boolean => {
  if (startsOver(asked)) return asked.fullRefresh;
  return isUnfinished(latest) && latest.isFullRefresh && latest.errorCode !== 'ETL_ROWS_LOST';
};

/** Tells which tables still have what the run loaded: a crash of the server empties unlogged ones. */
export const keepsLoaded = (
  { spec, epoch }: Pick<OutsetContext, 'spec' | 'epoch'>,
  run: LatestRun,
): ((table: string) => boolean) => {
  const direct = directTables(spec);
  return (table) => run.epoch === epoch || direct.includes(table);
};

/** `isLoaded`: rows loaded from the file still exist. */
const knownFiles = async (context: OutsetContext, run: LatestRun): Promise<readonly KnownFile[]> => {
  const { client } = context;
  const loaded = new Set((await loadedChunks(client, run.id)).map(({ fileId }) => fileId));
  const keeps = keepsLoaded(context, run);
  return (await runFiles(client, run.id)).map((file) => ({
    ...file,
    isLoaded: loaded.has(file.id) && keeps(file.table),
  }));
};

/**
 * Returns tables whose landing has not the rows that the ledger says: the epoch does not tell that
 * somebody emptied one of them. Counts, so it is asked only when a proof has failed.
 */
export const vanishedTables = async (
  { client, spec }: Pick<OutsetContext, 'client' | 'spec'>,
  runId: number,
  planned: readonly PlannedTable[],
): Promise<ReadonlySet<string>> => {
  const there = await existingLandings(client, spec, planned);
  const totals = await loadedTotals(client, runId);
  const vanished = new Set<string>();
  for (const { table } of planned) {
    const { copied } = countsOfTable(totals, table.name);
    if (there.has(table.name) && (await countRows(client, landingTable(spec, table))) !== copied)
      vanished.add(table.name);
  }
  return vanished;
};

const decide = async (
  context: OutsetContext,
  latest: LatestRun | undefined,
  planned: readonly PlannedTable[],
  fresh: boolean,
): Promise<Beginning> => {
  const { client, spec, hashes } = context;
  return decideBeginning({
    latest,
    before: isUnfinished(latest) ? await knownFiles(context, latest) : [],
    now: planned.flatMap(({ files }) => files),
    stagedHashes: hashes.staged,
    landings: isUnfinished(latest) ? await existingLandings(client, spec, planned) : new Set(),
    vanished:
      isUnfinished(latest) && latest.errorCode === 'ETL_INCOMPLETE'
        ? await vanishedTables(context, latest.id, planned)
        : new Set(),
    recorrected: isUnfinished(latest) ? await recorrectedTables(client, latest.id) : new Set(),
    fresh,
    held: new Set(planned.flatMap(({ held }) => held.map(fileKey))),
  });
};

/** What earlier runs of the pipeline left. It does not depend on files. */
export interface Past {
  readonly latest: LatestRun | undefined;
  readonly published: PublishedRun | undefined;
  readonly withdrawn: Withdrawn | undefined;
}

export const lookBack = async (looking: Looking): Promise<Past> => {
  const { client, spec } = looking;
  const [latest, published, withdrawn] = await askTogether(client, () => [
    latestRun(client, spec.name),
    asPublished(looking),
    withdrawnBy(client, spec.name),
  ]);
  return { latest, published, withdrawn };
};

/**
 * Decides without changing anything. `resume`: continue an unfinished run even if an earlier run
 * published the same files. Errors: ETL_ROLLED_BACK.
 */
export const lookAtOutset = async (
  context: OutsetContext & Asked,
  planned: readonly PlannedTable[],
  { latest, published, withdrawn }: Past,
  emptiedTable: EmptiedTable,
  resume = false,
): Promise<Outset> => {
  const { fullRefresh, hashes } = context;
  const startOver = startsOver(context);
  const beginning = await decide(context, latest, planned, startOver);
  const isAsItWas =
    beginning.kind === 'resume' &&
    beginning.changes.length === 0 &&
    latest?.definitionHash === hashes.definition;
  const goesOn = isAsItWas || (resume && latest?.state !== 'published');
  const standing = startOver || goesOn ? undefined : standingRun(context, planned, published, emptiedTable);
  if (standing === undefined && !fullRefresh) refuseWithdrawn(context, planned, withdrawn);
  return { latest, beginning, isAsItWas, standing };
};

/**
 * Decides how the run begins. The caller must hold the pipeline's lock. If an unfinished run has
 * changes, its loaders are stopped first, so that the reported changes are final.
 */
export const findOutset = async (
  context: OutsetContext & Asked,
  planned: readonly PlannedTable[],
  past: Past,
  emptiedTable: EmptiedTable,
  resume: boolean,
): Promise<Outset> => {
  const outset = await lookAtOutset(context, planned, past, emptiedTable, resume);
  const { latest, beginning, standing } = outset;
  if (standing !== undefined || beginning.kind === 'new' || beginning.changes.length === 0) return outset;
  // A loader may be about to commit the first chunk of a changed file.
  await runQuery(context.client, fenceRun(beginning.runId));
  return { ...outset, beginning: await decide(context, latest, planned, startsOver(context)) };
};

export const reasonsOf = (beginning: Beginning): readonly string[] => {
  if (beginning.kind === 'new') return beginning.why === undefined ? [] : [beginning.why];
  return beginning.changes.map(({ table, isKept, why }) =>
    isKept
      ? `run ${beginning.runId} continues with the current files of table ${table}: ${why}`
      : `run ${beginning.runId} continues, but loads table ${table} again, because ${why}`,
  );
};
