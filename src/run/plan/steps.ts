// Describes how the rows of a table get from a file into production, and why.

import { fileKey } from '../../ledger/run/decide.ts';
import { missingSegments } from '../../ledger/run/resume.ts';
import type { Guard, SourceTableSpec, TableSpec } from '../../core/declaration.ts';
import { optionsText, ownOptions } from '../../core/dialect.ts';
import { whyByText } from '../../format/rows/by-text.ts';
import { constraintText } from '../../publish/table/constraints.ts';
import { columnText, serverColumnsOf } from '../../publish/table/server-columns.ts';
import { isExclusion } from '../../input/sources/registry.ts';
import { formatCount, onOneLine, plural } from '../../core/wording.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { isSeekable } from '../../input/input.ts';
import { sharedFiles } from '../../load/cut-segments.ts';
import { chooseDecoder, type DecoderChoice } from '../../load/chunk/file-reader.ts';
import type { RunSettings } from '../options.ts';
import type { TablePlan } from './contract.ts';

type Steps = TablePlan['steps'];

const list = (texts: readonly string[], most = 3): string =>
  texts.length > most ? `${texts.slice(0, most).join(', ')}, … (${texts.length})` : texts.join(', ');

/** Returns the streams that all workers would load together, in a new run. */
export const sharedBy = (
  planned: readonly PlannedTable[],
  { workers, chunkBytes }: Pick<RunSettings, 'workers' | 'chunkBytes'>,
): ReadonlySet<string> => {
  if (planned.every((table) => table.files.every(isSeekable))) return new Set();
  const files = planned
    .flatMap((table) => table.files)
    .map((file, id) => ({ ...file, id, runId: 0, runStarted: '' }));
  const missing = missingSegments(files, []);
  const shared = sharedFiles({ missing, files, workers, workersMax: workers, chunkBytes });
  return new Set(files.filter(({ id }) => shared.has(id)).map(fileKey));
};

/** A stream is a file that is read from beginning to end. */
const streamSteps = ({ files }: PlannedTable, shared: ReadonlySet<string>): Steps => {
  const streams = files.filter((file) => !isSeekable(file));
  const together = streams.filter((file) => shared.has(fileKey(file))).map(({ name }) => name);
  const alone = streams.length - together.length;
  const texts = [
    ...(together.length > 0 ? [`read once, loaded by all workers: ${list(together)}`] : []),
    ...(alone > 0 ? [`loaded by one worker each: ${plural(alone, 'file')}`] : []),
  ];
  return texts.map((text) => ({ step: 'stream', text }));
};

/**
 * How files are decoded: one entry for each way, because the locations of a table may have
 * different dialects.
 */
type DecoderChoices = readonly (DecoderChoice & { readonly locations: readonly string[] })[];

const decoderChoices = (table: SourceTableSpec): DecoderChoices => {
  const choices = new Map<string, DecoderChoice & { readonly locations: string[] }>();
  for (const reading of table.readings) {
    const choice = chooseDecoder({ ...table, ...reading });
    const known = choices.get(choice.why) ?? { ...choice, locations: [] };
    known.locations.push(...reading.source.locations.filter((one) => !isExclusion(one)));
    choices.set(choice.why, known);
  }
  return [...choices.values()];
};

const dialectSteps = ({ readings }: SourceTableSpec): Steps => {
  const written = readings.map(({ source: { skipEnd }, format: { encoding, dialect } }) => ({
    ...dialect,
    encoding,
    skipEnd,
  }));
  return ownOptions(written).flatMap((own, place) => {
    const of = list(readings[place]!.source.locations.filter((one) => !isExclusion(one)));
    return Object.keys(own).length === 0 ? [] : [{ step: 'dialect', text: `${of}: ${optionsText(own)}` }];
  });
};

const decoderSteps = (choices: DecoderChoices): Steps =>
  choices.map(({ decoder, why, locations }) => {
    const of = choices.length > 1 ? `${list(locations)}: ` : '';
    return { step: 'decoder', text: `${of}${decoder}, because ${why}` };
  });

const columnSteps = ({ columns }: SourceTableSpec, decoder: DecoderChoice['decoder']): Steps => {
  if (decoder === 'verbatim') return [];
  const byText = columns.flatMap((column) => {
    const why = whyByText(column, decoder === 'compiled to text');
    if (why === undefined) return [];
    return [column.stagedOnly === true ? why : `${column.name} (${why})`];
  });
  return byText.length === 0
    ? []
    : [{ step: 'columns', text: `read in JavaScript, which is slower: ${list(byText, 20)}` }];
};

const rowsFrom = ({ staging, transform }: SourceTableSpec): string =>
  transform?.path ?? (staging === 'none' ? 'as they are loaded' : 'from staging');

export const sourceSteps = (planned: PlannedTable, shared: ReadonlySet<string>): Steps => {
  const { table } = planned;
  const choices = decoderChoices(table);
  const { decoder } = choices[0]!;
  const own = table.columns.filter(({ stagedOnly }) => stagedOnly === true).length;
  const columns = `${plural(planned.staging.length - own, 'column')}${own > 0 ? ` and ${own} for the merge` : ''}`;
  const stagings = {
    typed: `unlogged, ${columns}`,
    text: `unlogged, ${columns} of text`,
    none: `none: ${columns} straight into the new table`,
  };
  return [
    ...streamSteps(planned, shared),
    ...dialectSteps(table),
    ...decoderSteps(choices),
    ...columnSteps(table, decoder),
    { step: 'staging', text: stagings[table.staging] },
    { step: 'rows', text: rowsFrom(table) },
  ];
};

const guardText = ({ rowsMin, shrinkMaxPercent }: Guard, mayShrink: boolean): string => {
  const least = rowsMin > 0 ? [`at least ${formatCount(rowsMin)} rows`] : [];
  const loss = shrinkMaxPercent < 100 ? [`at most ${shrinkMaxPercent}% fewer than before`] : [];
  const asked = [...least, ...loss].join(', ');
  return asked === '' ? 'any number of rows' : asked + (mayShrink ? '; fewer are allowed this time' : '');
};

export const tableSteps = (table: TableSpec, mayShrink: boolean): Steps => {
  const { primaryKey, indexes, constraints = [], attributes, tests = [], guard, keep } = table;
  const key = primaryKey.length === 0 ? [] : [`primary key (${primaryKey.join(', ')})`];
  const others = indexes.map(({ using, columns }) => `${using} (${columns.join(', ')})`);
  const step = (name: string, texts: readonly string[]): Steps =>
    texts.length === 0 ? [] : [{ step: name, text: texts.map(onOneLine).join(', ') }];
  return [
    ...step('server', serverColumnsOf(attributes).map(columnText)),
    { step: 'indexes', text: [...key, ...others].join(', ') || 'none' },
    ...step('checks', constraints.map(constraintText)),
    ...step(
      'tests',
      tests.map(({ name }) => name),
    ),
    { step: 'guard', text: guardText(guard, mayShrink) },
    ...(keep === undefined
      ? []
      : [{ step: 'keep', text: `${plural(keep, 'earlier version')}, each as large as the table` }]),
  ];
};
