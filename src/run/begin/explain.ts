// What a run would do with each table, and whether it would do anything, without doing it.

import { fileKey } from '../../checkpoint/decide.ts';
import { readEpoch } from '../../checkpoint/epoch.ts';
import { missingSegments } from '../../checkpoint/resume.ts';
import type { Client } from '../../db/client.ts';
import { schemaVersions } from '../../db/bookkeeping/migrate.ts';
import type { Guard, PipelineSpec, SourceTableSpec, TableSpec } from '../../declaration.ts';
import { EtlError } from '../../errors.ts';
import { whyByText } from '../../format/compiled/by-text.ts';
import type { RunEvent } from '../../model.ts';
import type { Pipeline } from '../../pipeline/declare/define-pipeline.ts';
import { readDefinition, type Definition } from '../definition.ts';
import { refuseUnknownTables, resolveOptions, type RunOptions, type RunSettings } from '../options.ts';
import { isSeekable } from '../input.ts';
import { foreseenColumns } from './foreseen-columns.ts';
import { foreseenPartitions } from './foreseen-partitions.ts';
import { isFullRefresh, lookAtOutset, reasonsOf } from './outset.ts';
import { planNeeded, planSources, type PlannedTable } from './plan.ts';
import { modeOf } from '../../publish/names.ts';
import { refuseStrangers } from '../../server/preflight.ts';
import { formatCount, onOneLine, plural } from '../../wording.ts';
import { sharedFiles } from '../load/cut-segments.ts';
import { chooseDecoder, type DecoderChoice } from '../load/table-load.ts';

/** One table as a run would make it. */
export interface TablePlan {
  readonly table: string;
  readonly schema: string;
  readonly kind: 'source' | 'derived';
  /** What it is made from, the way there, and why that way: label and text, in the order of a byte. */
  readonly steps: readonly { readonly step: string; readonly text: string }[];
}

const fileStep = ({ files, intake }: PlannedTable): string => {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const names = files.map(({ name }) => name);
  const shown = names.length > 3 ? [names[0], '…', names.at(-1)] : names;
  const leaving = intake.outgoing.files.length - intake.changed;
  const part =
    intake.extent === 'whole'
      ? ''
      : ` of ${formatCount(intake.listed)} (${formatCount(intake.added)} new, ${formatCount(intake.changed)} changed, ${formatCount(leaving)} leave)`;
  const named = names.length === 0 ? '' : `, ${bytes.toLocaleString('en-US')} bytes: ${shown.join(' ')}`;
  return `${files.length}${part}${named}`;
};

const list = (texts: readonly string[], most = 3): string =>
  texts.length > most ? `${texts.slice(0, most).join(', ')}, … (${texts.length})` : texts.join(', ');

/** How many workers load each stream: files that are read from the beginning to the end. */
const streamSteps = ({ files }: PlannedTable, shared: ReadonlySet<string>): TablePlan['steps'] => {
  const streams = files.filter((file) => !isSeekable(file));
  const together = streams.filter((file) => shared.has(fileKey(file))).map(({ name }) => name);
  const alone = streams.length - together.length;
  const texts = [
    ...(together.length > 0 ? [`read once, loaded by all workers: ${list(together)}`] : []),
    ...(alone > 0 ? [`loaded by one worker each: ${plural(alone, 'file')}`] : []),
  ];
  return texts.map((text) => ({ step: 'stream', text }));
};

/** Columns whose values become texts in JavaScript, and why. */
const columnSteps = ({ columns }: SourceTableSpec, decoder: DecoderChoice['decoder']): TablePlan['steps'] => {
  if (decoder === 'verbatim') return [];
  const byText = columns.flatMap((column) => {
    const why = whyByText(column, decoder === 'compiled to text');
    return why === undefined ? [] : [`${column.name} (${why})`];
  });
  return byText.length === 0
    ? []
    : [{ step: 'columns', text: `read in JavaScript, which is slower: ${list(byText, 20)}` }];
};

const rowsFrom = ({ staging, transform }: SourceTableSpec): string =>
  transform?.path ?? (staging === 'none' ? 'as they are loaded' : 'from staging');

const sourceSteps = (planned: PlannedTable, shared: ReadonlySet<string>): TablePlan['steps'] => {
  const { table } = planned;
  const { decoder, why } = chooseDecoder(table);
  const columns = `${planned.staging.length} columns`;
  const stagings = {
    typed: `unlogged, ${columns}`,
    text: `unlogged, ${columns} of text`,
    none: `none: ${columns} straight into the new table`,
  };
  return [
    { step: 'files', text: fileStep(planned) },
    ...streamSteps(planned, shared),
    { step: 'decoder', text: `${decoder}, because ${why}` },
    ...columnSteps(table, decoder),
    { step: 'staging', text: stagings[table.staging] },
    { step: 'rows', text: rowsFrom(table) },
  ];
};

const indexStep = ({ primaryKey, indexes }: TableSpec): string => {
  const key = primaryKey.length === 0 ? [] : [`primary key (${primaryKey.join(', ')})`];
  const others = indexes.map(({ using, columns }) => `${using} (${columns.join(', ')})`);
  return [...key, ...others].join(', ') || 'none';
};

const guardText = ({ rowsMin, shrinkMaxPercent }: Guard, mayShrink: boolean): string => {
  const least = rowsMin > 0 ? [`at least ${formatCount(rowsMin)} rows`] : [];
  const loss = shrinkMaxPercent < 100 ? [`at most ${shrinkMaxPercent}% fewer than before`] : [];
  const asked = [...least, ...loss].join(', ');
  return asked === '' ? 'any number of rows' : asked + (mayShrink ? '; fewer are allowed this time' : '');
};

/** What a run would begin as: nothing to do, go on with a run, or load everything; unknown when the server cannot say. */
export interface OutsetPlan {
  readonly does: 'nothing' | 'continue' | 'load' | 'load new' | 'unknown';
  /** The run whose tables stand, or that would be continued. */
  readonly run: number | null;
  readonly why: readonly string[];
}

interface Looked {
  readonly planned: readonly PlannedTable[];
  readonly outset: OutsetPlan;
  /** What would be altered of tables that stay, and which partitions would be replaced, by their names. */
  readonly columns: ReadonlyMap<string, string>;
  readonly partitions: ReadonlyMap<string, string>;
}

/** Every file, where no server says which of them are needed. */
const unjudged = async (
  spec: PipelineSpec,
  settings: RunSettings,
  does: OutsetPlan['does'],
  why: string,
): Promise<Looked> => ({
  outset: { does, run: null, why: [why] },
  planned: await planSources(spec, settings),
  columns: new Map(),
  partitions: new Map(),
});

/** The judgement of a run, of whatever the server knows now. Changes nothing there. Errors: those of the server. */
const outsetOf = async (
  client: Client,
  { spec, hashes }: Definition,
  settings: RunSettings,
): Promise<Looked> => {
  const trust = await refuseStrangers(client, spec.name);
  const { found, known } = await schemaVersions(client, trust);
  if (found === 0) return unjudged(spec, settings, 'load', 'no run has used this database');
  if (found !== known)
    return unjudged(
      spec,
      settings,
      'unknown',
      `the bookkeeping has version ${found}, this sluice needs ${known}`,
    );
  const why: string[] = [];
  const emit = (event: RunEvent): void => void (event.type === 'notice' && why.push(event.message));
  const epoch = (await readEpoch(client)) ?? '';
  const looking = { ...settings, client, spec, epoch, report: { emit } };
  const judging = { ...looking, fullRefresh: await isFullRefresh(looking) };
  const planned = await planNeeded(judging, settings);
  const { fresh, fullRefresh } = settings;
  const asked = { startOver: fresh || fullRefresh, fullRefresh, resume: false };
  const { beginning, standing } = await lookAtOutset(looking, hashes, planned, asked);
  if (standing !== undefined)
    return {
      planned,
      outset: { does: 'nothing', run: standing, why },
      columns: new Map(),
      partitions: new Map(),
    };
  why.push(...reasonsOf(beginning));
  const isPart = planned.every(({ intake }) => intake.extent === 'part');
  const outset: OutsetPlan =
    beginning.kind === 'resume'
      ? { does: 'continue', run: beginning.runId, why }
      : { does: isPart ? 'load new' : 'load', run: null, why };
  const columns = await foreseenColumns(client, spec, planned);
  return { planned, outset, columns, partitions: await foreseenPartitions(client, spec, planned, columns) };
};

export interface Explanation {
  readonly tables: readonly TablePlan[];
  readonly outset: OutsetPlan;
}

/** Runs `ask` on the server, if there is one that can be asked. */
type AskServer = (ask: (client: Client) => Promise<Looked>) => Promise<Looked | undefined>;

/**
 * Explains every table of a pipeline, in declared order, and what the run would begin as. Reads the first bytes of each file.
 * Errors: those of the definition, its files and the server, unless that cannot be reached.
 */
export const explainRun = async (
  pipeline: Pipeline,
  options: RunOptions,
  askServer: AskServer,
): Promise<Explanation> => {
  const settings = resolveOptions(options);
  const { allowShrink } = settings;
  const definition = await readDefinition(pipeline, settings);
  const { spec } = definition;
  refuseUnknownTables(
    spec.tables.map(({ name }) => name),
    allowShrink,
  );
  const looked = await askServer((client) => outsetOf(client, definition, settings)).catch(
    (error: unknown) => {
      if (!(error instanceof EtlError) || error.code !== 'ETL_CONNECT') throw error;
      return unjudged(spec, settings, 'unknown', error.message);
    },
  );
  const known = looked ?? (await unjudged(spec, settings, 'load', 'there is no server yet'));
  const { outset, planned } = known;
  return { tables: tablePlans(spec, known, allowShrink, sharedBy(planned, settings)), outset };
};

/** Streams that a run from the beginning would load with all workers, by their keys. */
const sharedBy = (
  planned: readonly PlannedTable[],
  { workers, chunkBytes }: Pick<RunSettings, 'workers' | 'chunkBytes'>,
): ReadonlySet<string> => {
  const files = planned
    .flatMap((table) => table.files)
    .map((file, id) => ({ ...file, id, runId: 0, runStarted: '' }));
  const missing = missingSegments(files, []);
  const shared = sharedFiles({ missing, files, workers, workersMax: workers, chunkBytes });
  return new Set(files.filter(({ id }) => shared.has(id)).map(fileKey));
};

const publishText = (publish: TableSpec['publish']): string =>
  modeOf(publish) === 'touched' ? "replace, only 'touched'" : modeOf(publish);

const tablePlans = (
  spec: PipelineSpec,
  { planned, columns, partitions }: Looked,
  allowShrink: readonly string[],
  shared: ReadonlySet<string>,
): readonly TablePlan[] =>
  spec.tables.map((table) => {
    const { name, kind, publish, keep, tests = [] } = table;
    const source = planned.find((one) => one.table === table);
    const steps =
      table.kind === 'source'
        ? sourceSteps(source!, shared)
        : [{ step: 'rows', text: `${table.transform.path}, from ${table.from.join(', ')}` }];
    const altered = columns.get(name);
    const touched = partitions.get(name);
    const last = [
      ...(altered === undefined ? [] : [{ step: 'alter', text: altered }]),
      ...(touched === undefined ? [] : [{ step: 'partitions', text: touched }]),
      { step: 'indexes', text: indexStep(table) },
      ...(tests.length === 0
        ? []
        : [{ step: 'tests', text: tests.map((test) => onOneLine(test.name)).join(', ') }]),
      {
        step: 'publish',
        text: `${publishText(publish)}, ${guardText(table.guard, allowShrink.includes(name))}`,
      },
      ...(keep === undefined
        ? []
        : [{ step: 'keep', text: `${plural(keep, 'earlier version')}, each as large as the table` }]),
    ];
    return { table: name, schema: spec.schema, kind, steps: [...steps, ...last] };
  });
