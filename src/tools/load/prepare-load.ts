// Writes the pipeline that loads files into a table, as `etl load` runs it.

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { DistributionSpec } from '../../core/shape.ts';
import { keyText, literal, objectText } from '../../core/source-text.ts';
import { inQuotes } from '../../core/wording.ts';
import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import {
  draftFiles,
  type AskEncoding,
  type DraftFile,
  type GivenReading,
  type InitReading,
} from '../init/draft-files.ts';
import { fieldText, pipelineText, type TableText, type WrittenSource } from '../init/pipeline-text.ts';
import type { ColumnRules } from '../init/rules.ts';
import { loadText, readForInit, writtenFiles } from '../init/write-init.ts';
import { initTableText, type WrittenTable } from '../init/write-pipeline.ts';
import { columnText, hasType } from './column-text.ts';
import type { LoadMode } from './load-modes.ts';
import { loadName } from './load-name.ts';
import { pairFields, type Pair, type PairRules } from './pair-fields.ts';
import { findTarget, type Target, type TargetColumn } from './target.ts';

export interface LoadRequest extends PairRules {
  readonly files: readonly string[];
  /** `table` or `schema.table`, quoted as in SQL where a name has a dot or a quote. */
  readonly into: string;
  readonly mode: LoadMode;
  /** The columns by which rows are merged. Default: the table's primary key. */
  readonly key: readonly string[] | undefined;
  readonly reading: GivenReading;
  readonly columns: ColumnRules;
  /** Time zone of texts without one, for columns of type timestamptz. */
  readonly zone: string | undefined;
  readonly rejectLimit: string | undefined;
  readonly workingDirectory: string;
  readonly allowPrivate: boolean;
  readonly askEncoding?: AskEncoding | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadDraft {
  readonly target: Target;
  readonly pipeline: Pipeline;
  /** Text of the pipeline file that does the same; `file`: where it will be. */
  readonly text: (file: string) => string;
  /** What goes where; undefined: the table is new, and init decided it. */
  readonly pairs: readonly Pair[] | undefined;
  /** Draft of a new table. */
  readonly made: WrittenTable | undefined;
}

/** How init reads files, for `draftFiles` and `readForInit`. */
const readingOf = (request: LoadRequest, { table }: Target): InitReading => {
  const { workingDirectory, allowPrivate, reading: given, askEncoding, signal } = request;
  return { table, workingDirectory, allowPrivate, given, askEncoding, signal };
};

const sourceOf = async (files: readonly DraftFile[], request: LoadRequest): Promise<WrittenSource> => {
  const read = files.map(({ stored: { name }, ...file }) => ({ ...file, name }));
  return { ...(await writtenFiles(read, request, read)), dialect: files[0]!.dialect };
};

const sorted = (names: readonly string[]): string => names.toSorted().join('\0');

/**
 * The key by which rows are known: for a merge, the primary key or the columns of another unique
 * index; otherwise the primary key, if the files have it. Errors: ETL_USAGE.
 */
const keyOf = (
  { primaryKey, keys }: Target,
  pairs: readonly Pair[],
  { mode, key }: LoadRequest,
): readonly string[] => {
  const wanted = (mode === 'merge' ? key : undefined) ?? primaryKey;
  const missing = wanted.find((name) => pairs.every(({ column }) => column.name !== name));
  if (mode !== 'merge') return missing === undefined ? wanted : [];
  const refuse = (problem: string, hint: string): never => {
    throw new EtlError('ETL_USAGE', { problem: `--merge: ${problem}`, hint });
  };
  const listed = keys.map((columns) => columns.join(',')).join(' or ');
  const hint =
    listed === ''
      ? 'Give it a primary key or a unique index.'
      : `Its keys: ${listed}. --key names one, and the files must have its columns.`;
  if (wanted.length === 0) refuse('the table has no primary key, by which rows are merged', hint);
  if (missing !== undefined)
    refuse(`no field is loaded into ${inQuotes(missing)}, a column of the key`, hint);
  if (!keys.some((columns) => sorted(columns) === sorted(wanted)))
    refuse(`no unique index is on (${wanted.join(', ')})`, hint);
  return wanted;
};

/** Refuses to replace rows by such that lack columns: their contents would be lost. */
const refusePartial = (
  { schema, table }: Target,
  columns: readonly TargetColumn[],
  pairs: readonly Pair[],
): void => {
  const left = columns.filter((one) => pairs.every(({ column }) => column !== one)).map(({ name }) => name);
  if (left.length === 0) return;
  throw new EtlError('ETL_USAGE', {
    problem: `--replace: the files have nothing for ${left.join(', ')} of ${schema}.${table}, whose contents would be lost`,
    hint: 'Use --merge, which keeps them; or truncate the table yourself and load with --append.',
  });
};

const distributeText = (distribute: DistributionSpec): string =>
  distribute === 'reference' ? literal(distribute) : objectText({ ...distribute });

const optionLines = (
  { mode, rejectLimit }: LoadRequest,
  key: readonly string[],
  distribute?: DistributionSpec,
): readonly string[] => [
  ...(key.length === 0 ? [] : [`primaryKey: [${key.map(literal).join(', ')}],`]),
  ...(distribute === undefined ? [] : [`distribute: ${distributeText(distribute)},`]),
  ...(mode === 'replace'
    ? []
    : [
        // A changed file may have other values for the same keys.
        mode === 'merge' ? "publish: { mode: 'merge', changed: 'reload' }," : `publish: ${literal(mode)},`,
        "evolve: 'keep', // nothing of the table changes but its rows",
      ]),
  ...(rejectLimit === undefined
    ? []
    : [`rejectLimit: ${rejectLimit.endsWith('%') ? literal(rejectLimit) : rejectLimit},`]),
];

/** Fails for a `--type` that the column does not have. */
const spellingOf = (
  { column }: Pair,
  rules: ColumnRules,
  names: readonly string[],
  zone: string | undefined,
) => {
  const declared = rules.types.findLast((rule) => names.includes(rule.column));
  if (declared !== undefined && !hasType(column, declared.type))
    throw new EtlError('ETL_USAGE', {
      problem: `--type ${declared.text}: the column is ${column.type} in the table`,
      hint: 'For a table that exists, --type says how the values of its own type are written.',
    });
  return { declared, zone };
};

const prepareExisting = async (
  target: Target,
  columns: readonly TargetColumn[],
  request: LoadRequest,
): Promise<{ readonly pairs: readonly Pair[]; readonly table: TableText }> => {
  const files = await draftFiles(request.files, readingOf(request, target));
  const [{ header, dialect, stored }] = files as readonly [DraftFile];
  const hasHeader = dialect.header !== false;
  const pairs = pairFields(
    { table: `${target.schema}.${target.table}`, file: stored.name, header, hasHeader, columns },
    request,
  );
  if (request.mode === 'replace') refusePartial(target, columns, pairs);
  const key = keyOf(target, pairs, request);
  const { distribute } = target;
  const required = distribute === undefined || distribute === 'reference' ? key : [...key, distribute.by];
  const lines = pairs.map((pair) => {
    const { index, field, column } = pair;
    const at = hasHeader ? fieldText(header, index) : String(index + 1);
    const spelling = spellingOf(pair, request.columns, [field, column.name], request.zone);
    const isNullable = column.isNullable && !required.includes(column.name);
    return `${keyText(column.name)}: ${columnText({ ...column, isNullable }, at, spelling)},`;
  });
  const source = await sourceOf(files, request);
  // As \copy reads them: "" is an empty text. A file that is alone has no others to go on with.
  const options = {
    ...source.options,
    quotedNulls: false,
    ...(files.length === 1 && request.mode !== 'replace' && { onBadFile: 'stop' }),
  };
  return {
    pairs,
    table: {
      name: target.table,
      remarks: [],
      source: { ...source, options },
      columns: lines,
      options: optionLines(request, key, distribute),
    },
  };
};

/** A new table is as init would write it. */
const prepareNew = async (target: Target, request: LoadRequest) => {
  const { files, columns, key } = request;
  const rules = { ...columns, key };
  const { tables } = await readForInit({ ...readingOf(request, target), locations: files, rules });
  const [found, ...others] = tables;
  if (others.length > 0)
    throw new EtlError('ETL_USAGE', {
      problem: `the files have different headers, and would be ${tables.length} tables`,
      hint: 'Load them one after the other, or write a pipeline with `etl init`.',
    });
  const made = { ...found!, name: target.table };
  const table = initTableText(made);
  return {
    made,
    table: { ...table, options: [...table.options, ...optionLines(request, [])] },
  };
};

/**
 * Looks at the table and at the beginning of the files (for a new table at all records), and writes
 * the pipeline. Errors: ETL_USAGE, ETL_LOAD_FIELDS, those of sources and of definitions.
 */
export const prepareLoad = async (client: Client, request: LoadRequest): Promise<LoadDraft> => {
  const target = await findTarget(client, request.into);
  const { columns } = target;
  const prepared =
    columns === undefined
      ? await prepareNew(target, request)
      : await prepareExisting(target, columns, request);
  const text = (file: string): string =>
    pipelineText({
      about: [
        'Written by `etl load`: loads the files into a table, as the command does.',
        '',
        `  npx sluice run ${file}`,
      ],
      name: loadName(target),
      schema: target.schema,
      tables: [prepared.table],
    });
  return {
    target,
    text,
    pipeline: await loadText(text('')),
    pairs: 'pairs' in prepared ? prepared.pairs : undefined,
    made: 'made' in prepared ? prepared.made : undefined,
  };
};
