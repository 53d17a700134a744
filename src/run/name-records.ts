// Finds the file and line of refused rows, for error messages.

import { stagingTable } from '../db/staging.ts';
import { runFiles } from '../ledger/run/ledger.ts';
import { runQuery } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { DuplicateRows } from '../publish/table/duplicates.ts';
import { serverValues } from '../publish/table/server-columns.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import { authorsPath, builtName, type TableNames } from '../db/names.ts';
import { publishedColumns, type BuiltTable } from '../publish/table/tables.ts';
import {
  findRefused,
  noneRefused,
  RowsRefused,
  type LoadedRow,
  type RefusedFrom,
} from '../publish/table/refused-rows.ts';
import { plural } from '../core/wording.ts';
import type { RunContext, Work } from './context.ts';
import { stopSignal } from '../core/stop.ts';
import { tableOfFile, type SourceTableSpec } from '../core/declaration.ts';
import { sliceBlock } from '../format/records/record-slice.ts';
import type { Position, SourceFile } from '../core/model.ts';
import { openSegment } from '../load/chunk/block-source.ts';
import { createFileReader } from '../load/chunk/file-reader.ts';

// To find the line of a copied row, the file is read again from the start of the row's chunk.

/** `ordinal` counts the rows that the chunk copied, from 1. */
interface RowOfChunk {
  readonly file: SourceFile;
  readonly start: Position;
  readonly byteEnd: number;
  readonly ordinal: number;
}

const lineOfRow = async (
  declared: SourceTableSpec,
  { file, start, byteEnd, ordinal }: RowOfChunk,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const table = tableOfFile(declared, file);
  const { splitter, decode } = createFileReader(file, table, [], '');
  const access = { declared: table.source, signal };
  const chunkBytes = byteEnd - start.byte;
  const source = openSegment({ file, access, start, byteEnd, splitter, chunkBytes });
  let copied = 0;
  try {
    for await (const block of source.from(start)) {
      const inBlock = decode(block).counts.copied;
      if (copied + inBlock < ordinal) {
        copied += inBlock;
        continue;
      }
      for (const place of block.spans.starts.keys()) {
        const record = sliceBlock(block, place, place + 1);
        copied += decode(record).counts.copied;
        if (copied === ordinal) return record.position.line;
      }
    }
  } finally {
    await source.close();
  }
  return undefined;
};

/**
 * Finds the chunk of a row: its ledger row has the same xmin, and rows are in the order of their
 * records. Undefined for rows made by SQL, corrected, or loaded under a savepoint after the server
 * had refused the chunk.
 */
const placeOf = async (
  context: RunContext,
  runId: number,
  { table, rowsFrom }: Pick<BuiltTable, 'table' | 'rowsFrom'>,
  { ctid, xmin }: LoadedRow,
): Promise<string | undefined> => {
  const { client, spec } = context;
  const declared = spec.tables.find(({ name }) => name === table)!;
  if (declared.kind !== 'source' || declared.staging === 'text') return undefined;
  const { rows } = await runQuery(client, {
    text: `select c.file_id::float8 as "fileId", c.byte_start::float8 as byte, c.byte_end::float8 as "byteEnd",
        c.first_line::float8 as line, c.first_record::float8 as record,
        (select count(*)::float8 from ${rowsFrom} n where n.xmin = $3::xid and n.ctid <= $4::tid) as ordinal
      from etl.source_file f join etl.chunk c on c.file_id = f.id
      where f.run_id = $1 and f.table_name = $2 and c.xmin = $3::xid
        and not exists (select from etl.corrected x where x.file_id = f.id)`,
    values: [runId, table, xmin, ctid],
  });
  if (rows.length !== 1) return undefined;
  const { fileId, byteEnd, ordinal, ...start } = rows[0];
  const file = (await runFiles(client, runId)).find(({ id }) => id === fileId)!;
  const line = await lineOfRow(declared, { file, start, byteEnd, ordinal }, stopSignal(context));
  return line === undefined ? undefined : `${file.name}:${line}`;
};

const duplicatesError = async (
  context: RunContext,
  runId: number,
  { plan, what, rows, cause }: DuplicateRows,
): Promise<EtlError> => {
  const records: string[] = [];
  for (const row of rows) {
    const place = await placeOf(context, runId, plan.table, row);
    const other = row.isInProduction ? 'is in production already' : 'is in these files twice';
    records.push(`${place === undefined ? '' : `${place} `}(${row.key}) ${other}`);
  }
  const details = { table: plan.table.table, key: what, records: records.join('; ') };
  return new EtlError('ETL_DUPLICATE_ROWS', details, { cause });
};

/**
 * Where refused rows are looked up. Staging has the order of the files, lacks columns that the
 * server fills, and has more columns for a merge.
 */
const loadedRows = ({ spec }: Work, names: TableNames): RefusedFrom => {
  const table = spec.tables.find(({ name }) => name === names.table)!;
  if (table.kind !== 'source' || table.staging !== 'typed') return { rowsFrom: builtName(names) };
  return {
    rowsFrom: stagingTable(spec.name, table.name),
    columns: publishedColumns(table).map(({ name }) => name),
    values: serverValues(names.attributes),
  };
};

/** Returns `a.csv:3 (1)` for the first rows of `from`, each with its file and line if known. */
const namedRows = async (
  context: RunContext,
  runId: number,
  from: Pick<BuiltTable, 'table' | 'rowsFrom'>,
  rows: readonly LoadedRow[],
): Promise<readonly string[]> => {
  const named: string[] = [];
  for (const row of rows) {
    const place = await placeOf(context, runId, from, row);
    named.push(`${place === undefined ? '' : `${place} `}${row.key}`);
  }
  return named;
};

/**
 * Says which loaded records share a primary key. A reject limit stops a run before its tables are
 * built, and the next run would report them after the rejects. Undefined if there are none.
 */
export const sharedKeys = async (
  context: RunContext,
  runId: number,
  { name: table, primaryKey, staging, publish }: SourceTableSpec,
): Promise<string | undefined> => {
  const { whyNotRows, merge } = meaningOf(publish);
  // A mode that says why its rows are fewer than its records combines records of one key.
  const isCombined = whyNotRows !== undefined && merge?.twice !== 'reject';
  if (primaryKey.length === 0 || staging !== 'typed' || isCombined) return undefined;
  const rowsFrom = stagingTable(context.spec.name, table);
  const rule = { kind: 'unique', columns: primaryKey } as const;
  const { rows, all } = await findRefused(context.client, authorsPath(context.spec), { rowsFrom }, rule);
  if (all === 0) return undefined;
  const named = await namedRows(context, runId, { table, rowsFrom }, rows);
  const records = `${named.join('; ')}${all > rows.length ? '; …' : ''}`;
  return `the primary key (${primaryKey.join(', ')}) is shared by ${plural(all, 'record')}: ${records}`;
};

const refusedError = async (
  context: RunContext,
  runId: number,
  names: TableNames,
  { what, rule, cause }: RowsRefused,
): Promise<EtlError> => {
  const { table } = names;
  const from = loadedRows(context, names);
  // Rows that SQL made for partitions are dropped by now. Then the server's message has to do.
  const { rows, all } = await findRefused(context.client, names.path, from, rule).catch(() => noneRefused);
  const named = await namedRows(context, runId, { table, rowsFrom: from.rowsFrom }, rows);
  if (rule.kind === 'partition key') {
    const rowsText = plural(all, 'row');
    return all === 0
      ? (cause as EtlError)
      : new EtlError('ETL_PARTITION_KEY', { table, column: what, rows: rowsText, row: named.join('; ') });
  }
  const counted = `${plural(all, 'row')}: ${named.join('; ')}${all > rows.length ? '; …' : ''}`;
  const options = { cause };
  const { detail = '' } = cause as { detail?: string };
  // Some rows are in no file: rows that a partition keeps, or rows that a merge combined.
  const unnamed =
    rule.kind === 'check' && detail !== ''
      ? `a row: ${detail.replace(/\.$/, '')}`
      : names.built === table
        ? 'rows that SQL made'
        : 'rows that production keeps';
  const records = all === 0 ? unnamed : counted;
  if (rule.kind === 'check')
    return new EtlError('ETL_CONSTRAINT', { table, constraint: what, records }, options);
  if (rule.kind === 'foreign key')
    return new EtlError(
      'ETL_CONSTRAINT',
      { table, constraint: what, records: all === 0 ? `a row: ${detail.replace(/\.$/, '')}` : records },
      options,
    );
  return new EtlError(
    'ETL_DUPLICATE_KEY',
    { table, key: what, detail: all === 0 ? detail : `${detail} In ${records}` },
    options,
  );
};

/**
 * Returns the error with file and line of the refused rows; returns other errors unchanged. Errors:
 * those of the files' sources.
 */
export const withRecords = async (
  context: RunContext,
  runId: number,
  error: unknown,
  tableNamed: (name: string) => TableNames,
): Promise<unknown> => {
  if (error instanceof DuplicateRows) return duplicatesError(context, runId, error);
  return error instanceof RowsRefused ? refusedError(context, runId, tableNamed(error.table), error) : error;
};
