// Plans one file: checks its encoding and header, and finds where its data begins and ends.

import type { NewFile } from '../../ledger/run/ledger.ts';
import type { LineEnd, ReadTable, SourceTableSpec } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { differencesOf } from '../../format/rows/file-differences.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import {
  checkHeader,
  checkUnique,
  neededFields,
  type HeaderPosition,
} from '../../format/rows/header-check.ts';
import { isLineEnd, lastLinesStart } from '../../input/last-lines.ts';
import { recordBytesMax } from '../../core/limits.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import type { Access } from '../../input/sources/contract.ts';
import { cutOff, isSeekable, trailerError, withBytes, type InputFile } from '../../input/input.ts';
import { growing } from './arrival.ts';
import { readHead } from './file-head.ts';
import type { SourceFile } from '../../core/model.ts';
import type { Found } from './found-files.ts';
import { isOfFile, type PlannedFile } from './held-files.ts';
import { textColumns } from './planned-table.ts';
import { storedFiles, type LookedAt } from './stored-files.ts';

const positionsOf = ({ columns, filter }: SourceTableSpec): number =>
  Math.max(0, ...neededFields(columns, filter).filter((ref) => typeof ref === 'number'));

/** Returns how the file's header differs from the columns that the table names. */
const checkFields = (
  table: ReadTable,
  file: Pick<NewFile, 'name' | 'header' | 'constants'>,
  at: HeaderPosition,
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

/** Number of bytes read first to find a trailer; nearly all trailers are far smaller. */
const tailBytes = 64 * 1024;

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
    // The tail may begin inside a line, so its first line does not count.
    if (missing === 0 && (start > 0 || from === dataByte)) return from + start;
    if (from === dataByte) throw trailerError(file, skipEnd)('missing');
    if (size > (skipEnd + 1) * recordBytesMax) throw trailerError(file, skipEnd)('long');
  }
};

type Draft = { -readonly [Key in keyof PlannedFile]: PlannedFile[Key] };

/**
 * What is known of a file before it is read. Written out, and filled in later, also with what the run
 * gives it: V8 keeps an object that several others are spread into as a dictionary, which has four
 * times the size.
 */
const draftOf = (
  { table, source, location, member, part, name, bytes, fingerprint, decoding }: LookedAt['stored'],
  touched: LookedAt['touched'],
  reading: number,
  constants: NewFile['constants'],
): Draft & Pick<SourceFile, 'id' | 'runId' | 'runStarted' | 'ordinal'> => ({
  id: 0,
  runId: 0,
  runStarted: '',
  ordinal: 0,
  table,
  source,
  location,
  member,
  part,
  name,
  bytes,
  fingerprint,
  decoding,
  encoding: 'utf-8',
  reading,
  header: [],
  constants,
  differs: null,
  dataByte: 0,
  dataLine: 1,
  dataEnd: null,
  lineEnd: 'lf',
  touched,
  misfit: undefined,
  isOpen: undefined,
});

const planFile = async (
  table: ReadTable,
  reading: number,
  { stored, head, last, touched }: LookedAt,
  access: Access,
  notReady: EtlError | undefined,
): Promise<PlannedFile> => {
  const planned = draftOf(stored, touched, reading, table.source.constants);
  planned.misfit = notReady;
  if (notReady !== undefined) return planned;
  try {
    const { encoding, header } = await readHead(
      { ...stored, head },
      table.format,
      access,
      positionsOf(table),
    );
    const { names, line, dataByte, dataLine, lineEnd } = header;
    Object.assign(planned, { encoding, header: names, dataByte, dataLine, lineEnd });
    const at = { table: table.name, file: stored.name, line, skip: dataLine - 1 };
    planned.differs = checkFields(table, planned, at);
    if (!isSeekable(planned)) return planned;
    const isCut = last !== undefined && !isLineEnd(last);
    const isOpen = isCut && planned.bytes > dataByte && access.declared.skipEnd === 0;
    if (isOpen && access.declared.arrival.lastLine === 'complete') throw cutOff(planned);
    planned.dataEnd = await endOf(planned, access, dataByte, lineEnd);
    if (isOpen) planned.isOpen = isOpen;
  } catch (misfit) {
    if (!(misfit instanceof EtlError) || !isOfFile(misfit.code)) throw misfit;
    planned.misfit = misfit;
  }
  return planned;
};

/** Members of one archive that are read at once. */
const membersAtOnce = 4;

export const planFound = async (
  declared: SourceTableSpec,
  found: Found,
  signal: AbortSignal | undefined,
  waiting?: EtlError,
): Promise<readonly PlannedFile[]> => {
  const { source, file, member, reading } = found;
  const table: ReadTable = { ...declared, ...declared.readings[reading]! };
  const access = { declared: table.source, signal };
  try {
    return await withFilesAtOnce(
      storedFiles(table.name, { source, file, member }, access),
      (one) => planFile(table, reading, one, access, waiting ?? growing(declared, found, one.stored)),
      membersAtOnce,
    );
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    const details = { table: table.name, file: file.name, problem: messageOf(cause) };
    throw new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  }
};
