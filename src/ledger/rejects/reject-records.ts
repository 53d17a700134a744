// Splits the records of rejects into fields, by the format that their run recorded.

import { correctionOfReject } from './corrections.ts';
import type { Dialect, RecordedFormats } from '../../core/declaration.ts';
import { rowsOf, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { correctableFields } from '../../format/records/record-fields.ts';
import { rejectRawBytesMax } from '../../core/limits.ts';
import type { RejectCode } from '../../core/model.ts';
import { firstOf, plural } from '../../core/wording.ts';
import { rejectColumns, type RejectRow, type RejectsWanted } from './list-rejects.ts';

/** Format of one file; `columns` lists the fields that each column is made of. */
interface RecordedFormat extends Pick<RecordedFormats, 'columns'> {
  readonly dialect: Dialect;
}

/** Files of a table with the same header; their dialects may differ. */
export interface RecordShape {
  readonly table: string;
  readonly header: readonly string[];
  readonly formats: RecordedFormats;
  /** Index of the dialect by file name; 0 if missing. */
  readonly readings: Readonly<Record<string, number>>;
}

interface ShapeRow extends RecordShape {
  readonly file: string;
}

const shapesShown = 5;

const formatsOf = (table: string): string => `(select u.formats -> ${table} from etl.run u where u.id = $1)`;

export const formatOf = (file: string): string => `(
      select jsonb_build_object('columns', a.formats -> 'columns', 'dialect', a.formats -> 'dialects' -> ${file}.reading)
        from (select ${formatsOf(`${file}.table_name`)} as formats) a
    )`;

const shapesOf = (client: Client, runId: number, { table, file }: RejectsWanted): Promise<ShapeRow[]> =>
  rowsOf<ShapeRow>(client, {
    text: `select f.table_name as table, f.header, ${formatsOf('f.table_name')} as formats,
        coalesce(jsonb_object_agg(f.name, f.reading) filter (where f.reading > 0), '{}') as readings,
        (array_agg(f.name order by f.ordinal))[1] as file
      from etl.source_file f
      where f.run_id = $1 and ($2::text is null or f.table_name = $2) and ($3::text is null or f.name = $3)
        and exists (select from etl.reject j where j.run_id = $1 and j.table_name = f.table_name and j.file_id = f.id)
      group by f.table_name, f.header
      order by min(f.id) limit $4`,
    values: [runId, table, file, shapesShown + 1],
  });

const usage = (problem: string, hint: string): EtlError => new EtlError('ETL_USAGE', { problem, hint });

/** Errors: ETL_USAGE if the rejects are from several tables, or from different headers. */
export const shapeOfRejects = async (
  client: Client,
  runId: number,
  wanted: RejectsWanted,
): Promise<RecordShape | undefined> => {
  const shapes = await shapesOf(client, runId, wanted);
  const [first] = shapes;
  if (first === undefined) return undefined;
  const tables = new Set(shapes.map(({ table }) => table));
  if (tables.size > 1)
    throw usage(
      `run ${runId} has rejects of ${plural(tables.size, 'table')}`,
      `Name one: ${[...tables].map((table) => `--table ${table}`).join(', ')}.`,
    );
  if (shapes.length > 1)
    throw usage(
      `rejects of table ${first.table} are in files with different headers`,
      `Name one file: ${firstOf(
        shapes.map(({ file }) => `--file ${file}`),
        shapesShown,
      ).join(', ')}.`,
    );
  return first;
};

/** Codes of records whose bytes are not stored exactly, or whose fields do not match the header. */
const withoutFields: ReadonlySet<RejectCode> = new Set([
  'field_count',
  'invalid_utf8',
  'nul_byte',
  'quote',
  'line_end',
  'record_too_long',
]);

/** True if only the beginning of the record was stored (format/raw-text.ts). */
export const isCut = ({ raw }: Pick<RejectRow, 'raw'>): boolean =>
  raw.endsWith('…') && Buffer.byteLength(raw) >= rejectRawBytesMax;

/** Returns untrimmed fields; undefined if they cannot be separated, or were not stored. */
export const fieldsOfReject = (
  reject: Pick<RejectRow, 'code' | 'more' | 'raw'>,
  header: readonly string[],
  dialect: Dialect,
): readonly string[] | undefined => {
  if (isCut(reject) || [reject, ...reject.more].some(({ code }) => withoutFields.has(code))) return undefined;
  return correctableFields(Buffer.from(reject.raw), dialect, header.length);
};

export interface RejectInFile extends RejectRow, Pick<RecordShape, 'header'> {
  readonly format: RecordedFormat;
}

export const rejectsAt = (
  client: Client,
  runId: number,
  { table, file }: RejectsWanted,
  line: number,
): Promise<RejectInFile[]> =>
  rowsOf<RejectInFile>(client, {
    text: `select ${rejectColumns}, f.header, ${formatOf('f')} as format
      from etl.source_file f
      join etl.reject r on r.run_id = f.run_id and r.table_name = f.table_name and r.file_id = f.id
        ${correctionOfReject}
      where f.run_id = $1 and ($2::text is null or f.table_name = $2) and f.name = $3
        and $4 between r.line and coalesce(r.last_line, r.line)
      order by f.table_name, f.ordinal, r.byte, r.id`,
    values: [runId, table, file, line],
  });

/** `isAtFault`: a column with a fault is made of this field. */
export interface ShownField {
  readonly name: string;
  readonly text: string;
  readonly isAtFault: boolean;
}

/** Marks the fields at fault; null if the fields cannot be separated, or were not stored. */
export const markedFields = (
  reject: RejectRow,
  header: readonly string[],
  format: RecordedFormat,
): readonly ShownField[] | null => {
  const fields = fieldsOfReject(reject, header, format.dialect);
  const { indexesOf } = fieldsOf({ name: reject.file, header, constants: {} }, format.dialect);
  const columns = [reject, ...reject.more].flatMap(({ column }) => column ?? []);
  const refs = columns.flatMap((column) => format.columns[column] ?? []);
  const places = new Set(refs.flatMap(indexesOf));
  return fields?.map((text, place) => ({ name: header[place]!, text, isAtFault: places.has(place) })) ?? null;
};
