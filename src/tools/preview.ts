// What the first records of each file would become, without a server: rows as production would have them, and rejects.

import {
  tableOfFile,
  type ColumnSpec,
  type ReadTable,
  type SourceTableSpec,
} from '../core/declaration/declaration.ts';
import type { NewFile } from '../ledger/run/ledger.ts';
import { ownOptions, type Dialect } from '../core/declaration/dialect.ts';
import { typeOf } from '../format/types/registry.ts';
import { createRecordJudge, filtered, rejectOf } from '../format/rows/record-judge.ts';
import type { Faulty } from '../format/records/record-parser.ts';
import { recordBlocks } from '../format/split/record-blocks.ts';
import { createSplitter } from '../format/split/splitter.ts';
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

/** A row with the line of its record. */
export interface PreviewRow {
  readonly line: number;
  /** As PostgreSQL prints them; null is null. */
  readonly values: readonly (string | null)[];
}

export interface PreviewFile {
  readonly table: string;
  readonly file: string;
  readonly encoding: string;
  /** gzip, zip and so on; null: none. */
  readonly decoding: string | null;
  /** The options in which its dialect is not as most of its table's are; null: the table has one. */
  readonly dialect: Partial<Dialect> | null;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[];
  readonly rows: readonly PreviewRow[];
  readonly rejects: readonly Reject[];
  /** Records that a filter leaves out. */
  readonly filtered: number;
  /** The file has no further records. */
  readonly isWhole: boolean;
}

/** Bytes of a file that are read, however long its records are. */
const bytesMax = 4 * 1024 * 1024;
const blockBytes = 64 * 1024;

/** The columns of production, and whether the record deletes its row; what else a merge adds to staging is internal. */
const isShown = ({ stagedOnly, test }: ColumnSpec): boolean => stagedOnly !== true || test !== undefined;

/** What only a run knows: the file's id, the run's and its start. */
const unknownYet = '…';

const printerOf = (column: ColumnSpec): ((text: string | null) => string | null) => {
  if (column.lineage !== undefined && column.lineage !== '_line') return () => unknownYet;
  const print = valuePrinter(column);
  return (text) => (text === null ? null : print(text));
};

/** A table whose staging is text has the fields of its file as columns. */
const shownTable = (table: ReadTable, file: NewFile): ReadTable =>
  table.staging === 'text'
    ? {
        ...table,
        columns: stagingColumns(table, [file]).map(({ name }, place) =>
          madeColumn(name, 'text', { headers: [place + 1], nullable: true }),
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
  const printers = shown.map(([place, column]) => ({ place, print: printerOf(column) }));
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
        rows.push({ line, values: printers.map(({ place, print }) => print(judgement[place])) });
      } else rejects.push(rejectOf(block, index, judgement as Faulty));
    });
    records += taken;
    isWhole = taken === found;
    // A full block may be the last one: whether it was is not worth another read.
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
 * The first `recordsMax` records of each file of a pipeline, judged as a run judges them. Reads the head of each file, and nothing is
 * written. What only the server can know is not foreseen: duplicate keys, and values of types that it reads. Errors: those of the
 * definition, its files, and its functions.
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
