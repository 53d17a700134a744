// The tables that `etl init` makes of files: which files belong together, and what all of their records show.

import type { Dialect } from '../../core/declaration/declaration.ts';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { chooseKey } from './infer/choose-key.ts';
import type { Decision } from './infer/contract.ts';
import { counterOf } from './infer/counters.ts';
import { decideColumn } from './infer/decide.ts';
import { otherDialects } from './infer/dialect.ts';
import { guessedEncoding } from './infer/encoding.ts';
import { keysFound } from './infer/keys.ts';
import { headerRepeats } from './infer/header.ts';
import { patternOf } from './infer/table-names.ts';
import { closeTally } from './infer/tally.ts';
import {
  createTableEvidence,
  endGathering,
  observeBlock,
  type FaultSeen,
  type TableEvidence,
} from './infer/observe.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { readHeader } from '../../format/records/header.ts';
import { createRecordParser } from '../../format/records/record-parser.ts';
import { recordBlocks } from '../../format/split/record-blocks.ts';
import { createSplitter } from '../../format/split/splitter.ts';
import { readBytes } from '../../core/limits.ts';
import type { RejectCode } from '../../core/model.ts';
import { openInput, withBytes } from '../../input/input.ts';
import { draftSpec, draftTable, type DraftFile } from './draft-files.ts';
import { groupedBy } from './grouped.ts';

/** A file as it was read, at last. */
export interface ReadFile {
  readonly name: string;
  readonly location: string;
  readonly encoding: EncodingName;
  /** The encoding is a guess: the bytes do not say. */
  readonly isGuess: boolean;
  readonly dialect: Dialect;
}

/** A table with what was found of its columns. */
export interface TableDraft {
  readonly files: readonly ReadFile[];
  /** Of the first file. */
  readonly dialect: Dialect;
  /** Names of the fields; empty ones when there is no header, or the file has none for a field. */
  readonly header: readonly string[];
  readonly decisions: readonly Decision[];
  /** How often the header comes again. */
  readonly repeats: number;
  readonly key: readonly number[] | undefined;
  /** There were too many records to look for a key in all of them. */
  readonly isKeyUnknown: boolean;
  readonly records: number;
  readonly bytes: number;
  /** Records that are rejected whatever the columns are. */
  readonly faults: readonly {
    readonly code: RejectCode;
    readonly count: number;
    readonly first: FaultSeen;
  }[];
  readonly remarks: readonly string[];
}

/** What files have in common that are read in one dialect, by their first bytes. */
const mannerOf = ({ dialect: { delimiter, skipLines, comment } }: DraftFile): string =>
  JSON.stringify([delimiter, skipLines, comment]);

/** What the files of a table are read with. */
interface Trial {
  /** By manner. */
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** Of files whose encoding is another one than their first bytes say. */
  readonly encodings: ReadonlyMap<string, EncodingName>;
}

interface Attempt extends Trial {
  readonly evidence: TableEvidence;
  readonly header: readonly string[];
  readonly bytes: number;
}

const observeFile = async (
  draft: DraftFile,
  { dialects, encodings }: Trial,
  evidenceOf: (header: readonly string[]) => TableEvidence | undefined,
  faultyMax: number,
  signal?: AbortSignal,
): Promise<number> => {
  const { stored, encoding, access } = draft;
  const dialect = dialects.get(mannerOf(draft))!;
  const file = { ...stored, encoding: encodings.get(stored.name) ?? encoding };
  const named = { table: draftTable, file: stored.name };
  const head = await withBytes(file, access, (read) => readHeader(read, dialect, named));
  const evidence = evidenceOf(head.names);
  if (evidence === undefined) return 0;
  const { names: header, lineEnd, dataByte, dataLine } = head;
  const table = draftSpec(access.declared, dialect, file.encoding);
  const fields = fieldsOf({ header, name: stored.name, constants: {} }, dialect);
  const observing = { file: stored.name, dialect, parse: createRecordParser(table, fields, lineEnd) };
  const reads = openInput({ ...file, lineEnd }, access, dataByte, Infinity, { blockBytes: readBytes });
  const start = { byte: dataByte, line: dataLine, record: 1 };
  let end = dataByte;
  for await (const block of recordBlocks(reads, start, createSplitter(dialect, header.length, lineEnd))) {
    signal?.throwIfAborted();
    observeBlock(evidence, block, observing);
    end = block.position.byte + block.fileBytes;
    if (evidence.faulty >= faultyMax) break;
  }
  return end;
};

/** Reads all files; undefined when they are no better than an attempt with so many faults, or are no table at all. */
const attempt = async (
  files: readonly DraftFile[],
  trial: Trial,
  faultyMax: number,
  signal?: AbortSignal,
): Promise<Attempt | undefined> => {
  let evidence: TableEvidence | undefined;
  let bytes = 0;
  try {
    for (const file of files) {
      const evidenceOf = (header: readonly string[]) => {
        evidence ??= createTableEvidence(header, trial.dialects.get(mannerOf(file))!);
        return evidence.columns.length === header.length ? evidence : undefined;
      };
      bytes += await observeFile(file, trial, evidenceOf, faultyMax, signal);
      if (evidence === undefined || evidence.faulty >= faultyMax) return undefined;
    }
    if (evidence === undefined) return undefined;
    endGathering(evidence);
    return { ...trial, evidence, header: evidence.names, bytes };
  } finally {
    if (evidence?.tally !== undefined) closeTally(evidence.tally);
  }
};

/** Reads again in the guessed encoding what is not in UTF-8. */
const withEncodings = async (
  files: readonly DraftFile[],
  first: Attempt,
  signal?: AbortSignal,
): Promise<Attempt> => {
  let best = first;
  for (;;) {
    const wrong = best.evidence.faults.get('invalid_utf8')?.first.file;
    if (wrong === undefined) return best;
    const encodings = new Map([...best.encodings, [wrong, guessedEncoding]]);
    const next = await attempt(files, { dialects: best.dialects, encodings }, Infinity, signal);
    if (next === undefined) return best;
    best = next;
  }
};

/** Reads again in other dialects while records are at fault. */
const withDialects = async (
  files: readonly DraftFile[],
  first: Attempt,
  signal?: AbortSignal,
): Promise<Attempt> => {
  let best = first;
  for (const [manner, known] of first.dialects)
    for (const dialect of otherDialects(known, [...first.evidence.faults.keys()])) {
      if (best.evidence.faulty === 0) return best;
      const { encodings } = best;
      const dialects = new Map([...best.dialects, [manner, dialect]]);
      const other = await attempt(files, { dialects, encodings }, best.evidence.faulty, signal);
      if (other !== undefined && other.header.length === best.header.length) best = other;
    }
  return best;
};

/** Numbers are padded with blanks, or a blank is no value: then blanks around fields mean nothing. */
const trims = ({ columns }: TableEvidence, decisions: readonly Decision[]): boolean =>
  columns.some(({ counters }) => counters[counterOf.blank]! > 0) ||
  decisions.some(({ isPadded, type }) => isPadded && type !== 'text');

/** What first bytes say, of which file where not of all. */
const remarksOf = (firsts: readonly DraftFile[]): readonly string[] =>
  firsts.length === 1
    ? firsts[0]!.remarks
    : firsts.flatMap(({ stored, remarks }) => remarks.map((remark) => `${stored.name}: ${remark}`));

const tableDraft = async (files: readonly DraftFile[], signal?: AbortSignal): Promise<TableDraft> => {
  // The first file of each manner says what else is in its dialect.
  const firsts = [...groupedBy(files, mannerOf).values()].map((group) => group[0]!);
  const dialects = new Map(firsts.map((file) => [mannerOf(file), file.dialect]));
  const first = (await attempt(files, { dialects, encodings: new Map() }, Infinity, signal))!;
  const best = await withDialects(files, await withEncodings(files, first, signal), signal);
  const { evidence, header, bytes, encodings } = best;
  const { columns, records, faults, keys } = evidence;
  const repeats = headerRepeats(columns, header);
  const decisions = columns.map((column, place) => decideColumn(column, header[place]!, repeats > 0));
  const isTrimmed =
    [...best.dialects.values()].some(({ trim }) => trim === true) || trims(evidence, decisions);
  const dialectOf = (file: DraftFile): Dialect => ({
    ...best.dialects.get(mannerOf(file))!,
    trim: isTrimmed,
  });
  const found = keysFound(keys);
  return {
    files: files.map((file) => {
      const { stored, location, encoding } = file;
      const own = encodings.get(stored.name) ?? encoding;
      const isGuess = own === guessedEncoding;
      return { name: stored.name, location, encoding: own, isGuess, dialect: dialectOf(file) };
    }),
    dialect: dialectOf(files[0]!),
    header,
    decisions,
    repeats,
    key: chooseKey(found, columns, header, records),
    isKeyUnknown: keys.isLost,
    records,
    bytes,
    faults: [...faults].map(([code, { count, first: one }]) => ({ code, count, first: one })),
    remarks: remarksOf(firsts),
  };
};

/** Files of one shape have the same header, however it is written; without one, as many fields and names that differ in numbers alone. */
const shapeOf = (file: DraftFile): string => {
  const { stored, dialect, header } = file;
  const isNamed = dialect.header === true && header.some((name) => name !== '');
  return JSON.stringify(isNamed ? header : [mannerOf(file), header.length, patternOf(stored.name)]);
};

/** The files of each table. */
const groupFiles = (files: readonly DraftFile[]): readonly (readonly DraftFile[])[] => [
  ...groupedBy(files, shapeOf).values(),
];

/** Reads all files, table by table. */
export const draftTables = async (
  files: readonly DraftFile[],
  signal?: AbortSignal,
): Promise<readonly TableDraft[]> => {
  const drafts: TableDraft[] = [];
  for (const group of groupFiles(files)) drafts.push(await tableDraft(group, signal));
  return drafts;
};
