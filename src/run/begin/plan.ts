// Plans the loading: which files each table reads, what their headers say, what staging will look like.

import type { PipelineSpec, SourceTableSpec } from '../../declaration.ts';
import { EtlError, messageOf } from '../../errors.ts';
import { identifierBytesMax } from '../../limits.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import type { StagingColumn } from '../../copy/staging.ts';
import { decodingOf } from '../../decode/registry.ts';
import { typeOf } from '../../format/column-types/registry.ts';
import { checkHeader, neededHeaders, readHeader, type HeaderFile } from '../../format/header.ts';
import { withFilesAtOnce } from '../../source/at-once.ts';
import { textsOf } from '../../source/confine.ts';
import type { Listed, Source } from '../../source/contract.ts';
import { bySource } from '../../source/registry.ts';
import { withBytes } from '../input.ts';

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

const planFile = async (
  table: SourceTableSpec,
  source: Source,
  { name, location }: Listed,
  ordinal: number,
): Promise<NewFile> => {
  const named = { table: table.name, file: name };
  try {
    const { bytes, fingerprint, head } = await source.look(location);
    const decoding = decodingOf(head)?.name ?? null;
    const file = { table: table.name, source: source.name, location, member: null, name, decoding };
    const found = await withBytes(file, async (read) => {
      refuseContent(await read(0, headBytes), named);
      return readHeader(read, table.format.dialect, named);
    });
    const { names, line, dataByte, dataLine, lineEnd } = found;
    const at = { ...named, line, skip: dataLine - 1 };
    if (table.staging === 'text') {
      const columns = textColumns(names);
      checkHeader(columns, columns, at);
    } else checkHeader(names, neededHeaders(table.columns, table.filter), at);
    const data = { header: names, dataByte, dataLine, dataEnd: decoding === null ? bytes : null, lineEnd };
    return { ...file, ordinal, bytes, fingerprint, ...data };
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

const planTable = async (
  table: SourceTableSpec,
  workingDirectory: string,
  params: PipelineSpec['params'],
): Promise<PlannedTable> => {
  const texts = table.source.anywhere ? [] : textsOf(params);
  const listed = [];
  for (const { source, locations } of bySource(table.source.locations)) {
    const found = await source.list({ table: table.name, locations, workingDirectory, texts });
    for (const file of found) listed.push({ source, file });
  }
  const files = await withFilesAtOnce(listed, ({ source, file }, ordinal) =>
    planFile(table, source, file, ordinal),
  );
  return { table, files, staging: stagingColumns(table, files) };
};

/** Plans every table that is loaded from files. Reads the first bytes of each file, nothing else. */
export const planSources = async (
  spec: PipelineSpec,
  workingDirectory: string,
): Promise<readonly PlannedTable[]> => {
  const sources = spec.tables.filter((table) => table.kind === 'source');
  const planned: PlannedTable[] = [];
  for (const table of sources) planned.push(await planTable(table, workingDirectory, spec.params));
  return planned;
};
