// Plans the loading: which files each table reads, what their headers say, what staging will look like.

import type { LineEnd, PipelineSpec, SourceSpec, SourceTableSpec } from '../../declaration.ts';
import { EtlError, messageOf } from '../../errors.ts';
import { identifierBytesMax, recordBytesMax } from '../../limits.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import type { StagingColumn } from '../../copy/staging.ts';
import { decodingOfFile } from '../../decode/registry.ts';
import { typeOf } from '../../format/column-types/registry.ts';
import { differencesOf } from '../../format/file-differences.ts';
import { fieldsOf } from '../../format/file-fields.ts';
import { checkHeader, checkUnique, neededFields, type HeaderPlace } from '../../format/header-check.ts';
import { lastLinesStart } from '../../format/split/last-lines.ts';
import { withFilesAtOnce } from '../../source/at-once.ts';
import { textsOf } from '../../source/confine.ts';
import type { Access, Listed, Source } from '../../source/contract.ts';
import { bySource } from '../../source/registry.ts';
import { isSeekable, trailerError, withBytes, type InputFile } from '../input.ts';
import { stopSignal } from '../context.ts';
import type { RunSettings } from '../options.ts';
import { readHead } from './file-head.ts';

/** A table that is loaded from files: what is read, and what staging looks like. */
export interface PlannedTable {
  readonly table: SourceTableSpec;
  readonly files: readonly NewFile[];
  readonly staging: readonly StagingColumn[];
}

/** The last position that a table names; 0: it names none. */
const positionsOf = ({ columns, filter }: SourceTableSpec): number =>
  Math.max(0, ...neededFields(columns, filter).filter((ref) => typeof ref === 'number'));

/** Checks the fields of a file, and says how its header differs from what the table names. */
const checkFields = (
  table: SourceTableSpec,
  file: Pick<NewFile, 'name' | 'header' | 'constants'>,
  at: HeaderPlace,
): NewFile['differs'] => {
  const { dialect } = table.format;
  if (table.staging === 'text') {
    const header = textColumns(file.header);
    checkUnique(header, fieldsOf({ ...file, header }, dialect), dialect.match, at);
    return null;
  }
  const fields = fieldsOf(file, dialect);
  checkHeader(table, fields, at);
  return differencesOf(fields, neededFields(table.columns, table.filter));
};

/** Most bytes of a line that is looked for from the end of a file are far fewer. */
const tailBytes = 64 * 1024;

/** Where the data of a seekable file ends: at the end of the file, or where the last lines begin that are no records. */
const endOf = async (
  file: InputFile & Pick<NewFile, 'bytes'>,
  access: Access,
  dataByte: number,
  lineEnd: LineEnd,
): Promise<number> => {
  const { bytes } = file;
  const { skipEnd } = access.declared;
  if (skipEnd === 0) return bytes;
  for (let size = tailBytes; ; size *= 8) {
    const from = Math.max(dataByte, bytes - size);
    const tail = await withBytes(file, access, (read) => read(from, bytes - from));
    const { start, missing } = lastLinesStart(tail, skipEnd, lineEnd);
    // The first line of a part may be the end of one.
    if (missing === 0 && (start > 0 || from === dataByte)) return from + start;
    if (from === dataByte) throw trailerError(file, skipEnd)('missing');
    if (size > (skipEnd + 1) * recordBytesMax) throw trailerError(file, skipEnd)('long');
  }
};

const planFile = async (
  table: SourceTableSpec,
  source: Source,
  access: Access,
  { name, location }: Listed,
  constants: NewFile['constants'],
  ordinal: number,
): Promise<NewFile> => {
  const named = { table: table.name, file: name };
  const listed = { table: table.name, name, location };
  try {
    const { head, ...state } = await source.look(listed, access);
    const decoding = decodingOfFile(head, name)?.name ?? null;
    const stored = { ...listed, ...state, source: source.name, member: null, part: null, decoding };
    const { encoding, header: found } = await readHead(
      { ...stored, head },
      table,
      access,
      positionsOf(table),
    );
    const file = { ...stored, encoding };
    const { names, line, dataByte, dataLine, lineEnd } = found;
    const at = { ...named, line, skip: dataLine - 1 };
    const differs = checkFields(table, { name, header: names, constants }, at);
    const dataEnd = isSeekable(file) ? await endOf(file, access, dataByte, lineEnd) : null;
    return { ...file, ordinal, header: names, constants, differs, dataByte, dataLine, dataEnd, lineEnd };
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

/** A file where its source lists it. */
interface Found {
  readonly source: Source;
  readonly file: Listed;
  readonly constants: NewFile['constants'];
}

/** The locations by their constants, in declared order; what one excludes is excluded from all. */
const byConstants = ({ locations, constants }: SourceSpec) => {
  if (Object.keys(constants).length === 0) return [{ constants: {}, locations, name: locations.join(', ') }];
  const excluded = locations.filter((location) => /^!(?!\()/.test(location));
  const groups = new Map<string, { constants: NewFile['constants']; locations: string[] }>();
  for (const location of locations) {
    if (excluded.includes(location)) continue;
    const own = constants[location] ?? {};
    const key = JSON.stringify(own);
    const group = groups.get(key) ?? { constants: own, locations: [] };
    group.locations.push(location);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => ({
    constants: group.constants,
    name: group.locations.join(', '),
    locations: [...group.locations, ...excluded],
  }));
};

type Planning = Pick<RunSettings, 'workingDirectory'> & Partial<Pick<RunSettings, 'abort' | 'drain'>>;

const planTable = async (
  table: SourceTableSpec,
  planning: Planning,
  params: PipelineSpec['params'],
): Promise<PlannedTable> => {
  const { name, source: declared } = table;
  const texts = declared.anywhere ? [] : textsOf(params);
  const { workingDirectory } = planning;
  const access: Access = { declared, signal: stopSignal(planning) };
  async function* listed(): AsyncGenerator<Found, void> {
    const seen = new Map<string, string>();
    for (const group of byConstants(declared))
      for (const { source, locations } of bySource(group.locations))
        for await (const file of source.list({ table: name, locations, workingDirectory, texts }, access)) {
          const first = seen.get(file.location);
          if (first !== undefined)
            throw new EtlError('ETL_FILE_CONSTANTS', {
              table: name,
              file: file.name,
              first,
              second: group.name,
            });
          if (declared.locations.length > group.locations.length) seen.set(file.location, group.name);
          yield { source, file, constants: group.constants };
        }
  }
  // Thousands of files nearly always have one header, which is kept once.
  const headers = new Map<string, Pick<NewFile, 'header' | 'differs'>>();
  const files = await withFilesAtOnce(listed(), async ({ source, file, constants }, ordinal) => {
    const planned = await planFile(table, source, access, file, constants, ordinal);
    const { header, differs } = planned;
    const key = JSON.stringify([header, differs]);
    const known = headers.get(key) ?? { header, differs };
    headers.set(key, known);
    return { ...planned, ...known };
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
