// Previews a load without a server: the rows and rejects of the first records of each file.

import { tableOfFile, type ColumnSpec, type ReadTable, type SourceTableSpec } from '../core/declaration.ts';
import type { NewFile } from '../ledger/run/ledger.ts';
import { ownOptions, type Dialect } from '../core/dialect.ts';
import { typeOf } from '../format/types/registry.ts';
import { createRecordJudge, filtered, rejectOf } from '../format/rows/record-judge.ts';
import type { Faulty } from '../format/records/record-parser.ts';
import { recordBlocks } from '../format/records/record-blocks.ts';
import { createSplitter } from '../format/records/splitter.ts';
import type { Reject } from '../core/model.ts';
import { madeColumn } from '../pipeline/check/made-column.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { planSources } from '../run/files/plan-sources.ts';
import { stagingColumns } from '../run/files/planned-table.ts';
import { readDefinition } from '../pipeline/definition.ts';
import { openInput } from '../input/input.ts';
import { resolveOptions, type RunOptions } from '../run/options.ts';
import { stopSignal } from '../core/stop.ts';
import { valuePrinter } from './print-value.ts';

interface PreviewRow {
  readonly line: number;
  readonly values: readonly (string | null)[];
}

export interface PreviewFile {
  readonly table: string;
  readonly file: string;
  readonly encoding: string;
  readonly decoding: string | null;
  /** Options that differ from most files of the table; null: all files have the same options. */
  readonly dialect: Partial<Dialect> | null;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[];
  readonly rows: readonly PreviewRow[];
  readonly rejects: readonly Reject[];
  readonly filtered: number;
  readonly isWhole: boolean;
}

const bytesMax = 4 * 1024 * 1024;
const blockBytes = 64 * 1024;

/** True for columns of production, and for the column that tells if a record deletes its row. */
const isShown = ({ stagedOnly, test }: ColumnSpec): boolean => stagedOnly !== true || test !== undefined;

/** Printed for _file, _run and _loaded_at, which only a run knows. */
const unknownYet = '…';

const printerOf = (column: ColumnSpec): ((text: string | null) => string | null) => {
  if (column.lineage !== undefined && column.lineage !== '_line') return () => unknownYet;
  const print = valuePrinter(column);
  return (text) => (text === null ? null : print(text));
};

const shownTable = (table: ReadTable, file: NewFile): ReadTable =>
  table.staging === 'text'
    ? {
        ...table,
        columns: stagingColumns(table, [file]).map(({ name }, index) =>
          madeColumn(name, 'text', { headers: [index + 1], nullable: true }),
        ),
      }
    : table;

const previewFile = async (
  declared: SourceTableSpec,
  file: NewFile,
  own: PreviewFile['dialect'],
  signal: AbortSignal | undefined,
  recordsMax: number,
): Promise<PreviewFile> => {
  const { name, encoding, decoding, header, lineEnd, dataByte, dataLine } = file;
  const table = shownTable(tableOfFile(declared, file), file);
  const { dialect } = table.format;
  const access = { declared: table.source, signal };
  const judge = createRecordJudge(table, file);
  const shown = [...table.columns.entries()].filter(([, column]) => isShown(column));
  const printers = shown.map(([position, column]) => ({ position, print: printerOf(column) }));
  const rows: PreviewRow[] = [];
  const rejects: Reject[] = [];
  let [records, left] = [0, 0];
  let isWhole = true;
  const reads = openInput(file, access, dataByte, file.dataEnd ?? Infinity, { blockBytes });
  const start = { byte: dataByte, line: dataLine, record: 1 };
  for await (const block of recordBlocks(reads, start, createSplitter(dialect, header.length, lineEnd))) {
    const found = block.spans.starts.length;
    const taken = Math.min(found, recordsMax - records);
    judge(block, 0, taken, (judgement, index) => {
      if (judgement === filtered) left += 1;
      else if (Array.isArray(judgement)) {
        const line = block.position.line + block.spans.lines[index]!;
        rows.push({ line, values: printers.map(({ position, print }) => print(judgement[position])) });
      } else rejects.push(rejectOf(block, index, judgement as Faulty));
    });
    records += taken;
    isWhole = taken === found;
    // With all wanted records read, checking for the end of the file would take another read.
    if (records < recordsMax && block.position.byte - dataByte < bytesMax) continue;
    isWhole = false;
    break;
  }
  const columns = shown.map(([, column]) => ({
    name: column.stagedOnly === true ? 'publish.deleted' : column.name,
    type: typeOf(column).sql(column.options),
    nullable: column.nullable,
  }));
  return {
    table: table.name,
    file: name,
    encoding,
    decoding,
    dialect: own,
    columns,
    rows,
    rejects,
    filtered: left,
    isWhole,
  };
};

/**
 * Yields the first `recordsMax` records of each file, loaded or rejected as by a run. Errors that
 * only the server finds, such as duplicate keys, are not found.
 * Errors: those of the definition, its files and its functions.
 */
export async function* previewPipeline(
  pipeline: Pipeline,
  options: RunOptions,
  recordsMax: number,
): AsyncGenerator<PreviewFile, void> {
  const settings = resolveOptions(options);
  const { spec } = await readDefinition(pipeline, settings);
  const signal = stopSignal(settings);
  for (const { table, files } of await planSources(spec, settings)) {
    const own = ownOptions(table.readings.map(({ format }) => format.dialect));
    for (const file of files)
      yield await previewFile(table, file, own.length > 1 ? own[file.reading]! : null, signal, recordsMax);
  }
}
