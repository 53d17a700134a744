// Plans the loading: which files each table reads, what their headers say, what staging will look like.

import type { PipelineSpec, SourceTableSpec } from '../../declaration.ts';
import { EtlError, messageOf } from '../../errors.ts';
import { identifierBytesMax } from '../../limits.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import type { StagingColumn } from '../../copy/staging.ts';
import { decodingOf, decodingOfFile } from '../../decode/registry.ts';
import { typeOf } from '../../format/column-types/registry.ts';
import { fieldsOf } from '../../format/file-fields.ts';
import { readHeader, type HeaderFile } from '../../format/header.ts';
import { checkHeader, neededFields } from '../../format/header-check.ts';
import { withFilesAtOnce } from '../../source/at-once.ts';
import { textsOf } from '../../source/confine.ts';
import type { Access, Listed, Source } from '../../source/contract.ts';
import { bySource } from '../../source/registry.ts';
import { isSeekable, withBytes } from '../input.ts';
import type { RunSettings } from '../options.ts';

/** A table that is loaded from files: what is read, and what staging looks like. */
export interface PlannedTable {
  readonly table: SourceTableSpec;
  readonly files: readonly NewFile[];
  readonly staging: readonly StagingColumn[];
}

/** Enough of a file to tell how it is encoded. */
const headBytes = 16;

/** Refuses what is in a file, decoded, when it is nothing, or is encoded again. */
const refuseContent = (head: Buffer, named: HeaderFile): void => {
  if (head.length === 0) throw new EtlError('ETL_SOURCE_EMPTY', { ...named });
  const again = decodingOf(head);
  if (again === undefined) return;
  const problem = `is compressed twice (${again.name})`;
  throw new EtlError('ETL_SOURCE_FORMAT', { ...named, problem, hint: 'Decompress it once.' });
};

/** The last position that a table names; 0: it names none. */
const positionsOf = ({ columns, filter }: SourceTableSpec): number =>
  Math.max(0, ...neededFields(columns, filter).filter((ref) => typeof ref === 'number'));

const planFile = async (
  table: SourceTableSpec,
  source: Source,
  access: Access,
  { name, location }: Listed,
  ordinal: number,
): Promise<NewFile> => {
  const named = { table: table.name, file: name };
  const listed = { table: table.name, name, location };
  try {
    const { head, ...state } = await source.look(listed, access);
    const decoding = decodingOfFile(head, name)?.name ?? null;
    const file = { ...listed, ...state, source: source.name, member: null, decoding };
    const found = await withBytes(file, access, async (read) => {
      refuseContent(await read(0, headBytes), named);
      return readHeader(read, table.format.dialect, named, positionsOf(table));
    });
    const { names, line, dataByte, dataLine, lineEnd } = found;
    const at = { ...named, line, skip: dataLine - 1 };
    const { dialect } = table.format;
    const isText = table.staging === 'text';
    const header = isText ? textColumns(names) : names;
    const needed = isText ? header : neededFields(table.columns, table.filter);
    checkHeader(fieldsOf(header, dialect), needed, dialect, at);
    const dataEnd = isSeekable(file) ? file.bytes : null;
    return { ...file, ordinal, header: names, dataByte, dataLine, dataEnd, lineEnd };
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    throw new EtlError('ETL_SOURCE_UNREADABLE', { ...named, problem: messageOf(cause) }, { cause });
  }
};

/** As long as the server lets a name be; it would cut it itself, and call two columns by one name. */
const cutName = (name: string): string =>
  new TextDecoder().decode(Buffer.from(name).subarray(0, identifierBytesMax), { stream: true });

/** What a text table's staging calls the fields of a header. */
const textColumns = (header: readonly string[]): readonly string[] =>
  header.map((name, index) => (name === '' ? `field_${index + 1}` : cutName(name)));

/** Columns of the staging table: the declared ones in their types, or every header as text. */
export const stagingColumns = (
  table: SourceTableSpec,
  files: readonly NewFile[],
): readonly StagingColumn[] => {
  if (table.staging !== 'text')
    return table.columns.map((column) => ({ name: column.name, type: typeOf(column).sql(column.options) }));
  const [first, ...others] = files;
  const header = first!.header;
  const different = others.find((file) => file.header.join('\0') !== header.join('\0'));
  if (different !== undefined) {
    const details = { table: table.name, file: different.name, first: first!.name };
    throw new EtlError('ETL_HEADER_DIFFERS', details);
  }
  return textColumns(header).map((name) => ({ name, type: 'text' }));
};

type Planning = Pick<RunSettings, 'workingDirectory'> & Partial<Pick<RunSettings, 'abort'>>;

const planTable = async (
  table: SourceTableSpec,
  { workingDirectory, abort: signal }: Planning,
  params: PipelineSpec['params'],
): Promise<PlannedTable> => {
  const { name, source: declared } = table;
  const texts = declared.anywhere ? [] : textsOf(params);
  const access: Access = { declared, signal };
  async function* listed(): AsyncGenerator<{ readonly source: Source; readonly file: Listed }, void> {
    for (const { source, locations } of bySource(declared.locations))
      for await (const file of source.list({ table: name, locations, workingDirectory, texts }, access))
        yield { source, file };
  }
  // Thousands of files nearly always have one header, which is kept once.
  const headers = new Map<string, readonly string[]>();
  const files = await withFilesAtOnce(listed(), async ({ source, file }, ordinal) => {
    const planned = await planFile(table, source, access, file, ordinal);
    const names = planned.header.join('\0');
    const header = headers.get(names) ?? planned.header;
    headers.set(names, header);
    return { ...planned, header };
  });
  return { table, files, staging: stagingColumns(table, files) };
};

/** Plans every table that is loaded from files. Reads the first bytes of each file, nothing else. */
export const planSources = async (
  spec: PipelineSpec,
  planning: Planning,
): Promise<readonly PlannedTable[]> => {
  const sources = spec.tables.filter((table) => table.kind === 'source');
  const planned: PlannedTable[] = [];
  for (const table of sources) planned.push(await planTable(table, planning, spec.params));
  return planned;
};
