// Groups the files of `etl init` into tables, reads all their records, and decides types and keys.

import type { Dialect } from '../../core/declaration.ts';
import type { EncodingCandidate } from './encoding.ts';
import { chooseKey } from './choose-key.ts';
import type { Decision } from './contract.ts';
import { decideColumn } from './decide.ts';
import { otherDialects } from './dialect.ts';
import { keysFound } from './keys.ts';
import { headerRepeats } from './header.ts';
import { patternOf } from './table-names.ts';
import {
  createTableEvidence,
  endGathering,
  observeBlock,
  type FaultSeen,
  type TableEvidence,
} from './observe.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { readHeader } from '../../format/records/header.ts';
import { createRecordParser } from '../../format/records/record-parser.ts';
import { recordBlocks } from '../../format/records/record-blocks.ts';
import { createSplitter } from '../../format/records/splitter.ts';
import { readBytes } from '../../core/limits.ts';
import type { RejectCode } from '../../core/model.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { inQuotes, plural } from '../../core/wording.ts';
import { openInput, withBytes } from '../../input/input.ts';
import { draftSpec, draftTable, type DraftFile } from './draft-files.ts';
import { groupedBy } from './grouped.ts';
import { checkRules, keyDeclared, typesDeclared, type ColumnRules } from './rules.ts';

export interface ReadFile {
  readonly name: string;
  readonly location: string;
  readonly encoding: EncodingCandidate;
  readonly dialect: Dialect;
}

export interface TableDraft {
  readonly files: readonly ReadFile[];
  readonly dialect: Dialect;
  /** Names of fields; '' for a field without a name. */
  readonly header: readonly string[];
  readonly decisions: readonly Decision[];
  readonly repeats: number;
  readonly key: readonly number[] | undefined;
  /** True if there are too many records to prove a primary key. */
  readonly isKeyUnknown: boolean;
  readonly records: number;
  readonly bytes: number;
  /** Records that are rejected whatever types the columns have. */
  readonly faults: readonly {
    readonly code: RejectCode;
    readonly count: number;
    readonly first: FaultSeen;
  }[];
  readonly remarks: readonly string[];
}

const mannerOf = ({ dialect: { delimiter, skipLines, comment } }: DraftFile): string =>
  JSON.stringify([delimiter, skipLines, comment]);

interface Trial {
  readonly nulls: ReadonlySet<string> | undefined;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly encodings: ReadonlyMap<string, EncodingCandidate>;
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
  const file = { ...stored, encoding: (encodings.get(stored.name) ?? encoding).encoding };
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

const attempt = async (
  files: readonly DraftFile[],
  trial: Trial,
  faultyMax: number,
  signal?: AbortSignal,
): Promise<Attempt | undefined> => {
  let evidence: TableEvidence | undefined;
  let bytes = 0;
  for (const file of files) {
    const evidenceOf = (header: readonly string[]) => {
      evidence ??= createTableEvidence(header, trial.dialects.get(mannerOf(file))!, trial.nulls);
      return evidence.columns.length === header.length ? evidence : undefined;
    };
    bytes += await observeFile(file, trial, evidenceOf, faultyMax, signal);
    if (evidence === undefined || evidence.faulty >= faultyMax) return undefined;
  }
  if (evidence === undefined) return undefined;
  endGathering(evidence);
  return { ...trial, evidence, header: evidence.names, bytes };
};

/** Finds the encodings of files that turn out not to be UTF-8, and reads all files again. */
const withEncodings = async (
  files: readonly DraftFile[],
  first: Attempt,
  signal?: AbortSignal,
): Promise<Attempt> => {
  let best = first;
  for (;;) {
    const wrong = best.evidence.faults.get('invalid_utf8')?.first.file;
    const file = files.find(({ stored }) => stored.name === wrong);
    if (file === undefined || best.encodings.has(file.stored.name)) return best;
    const found = await file.findEncoding();
    const encodings = new Map([...best.encodings, [file.stored.name, found]]);
    if (found.encoding === file.encoding.encoding) return { ...best, encodings };
    best = (await attempt(files, { ...best, encodings }, Infinity, signal)) ?? best;
  }
};

const withDialects = async (
  files: readonly DraftFile[],
  first: Attempt,
  signal?: AbortSignal,
): Promise<Attempt> => {
  let best = first;
  for (const [manner, known] of first.dialects)
    for (const dialect of otherDialects(known, [...first.evidence.faults.keys()])) {
      if (best.evidence.faulty === 0) return best;
      const dialects = new Map([...best.dialects, [manner, dialect]]);
      const other = await attempt(files, { ...best, dialects }, best.evidence.faulty, signal);
      if (other !== undefined && other.header.length === best.header.length) best = other;
    }
  return best;
};

/**
 * True if blanks around the fields of some columns stand in the way of their types, and no text has
 * blanks around it, so that it loses nothing if every field is trimmed.
 */
const mayTrim = ({ columns }: TableEvidence, decisions: readonly Decision[]): boolean => {
  const withBlanks = decisions.filter(
    (_, index) => columns[index]!.padded !== undefined || columns[index]!.blanks.size > 0,
  );
  return withBlanks.length > 0 && withBlanks.every(({ type }) => type !== 'text');
};

/** Returns the declared key. Errors: ETL_USAGE for a column that has missing values. */
const declaredKey = (
  rules: ColumnRules,
  header: readonly string[],
  decisions: readonly Decision[],
): readonly number[] | undefined => {
  const key = keyDeclared(rules, header);
  const gap = key?.find((index) => decisions[index]!.missing > 0);
  if (gap === undefined) return key?.length === 0 ? undefined : key;
  throw new EtlError('ETL_USAGE', {
    problem: `--key: ${plural(decisions[gap]!.missing, 'record')} without a value in the column ${inQuotes(header[gap]!)}`,
    hint: 'A primary key needs a value in every record. Nothing was written.',
  });
};

const remarksOf = (firsts: readonly DraftFile[]): readonly string[] =>
  firsts.length === 1
    ? firsts[0]!.remarks
    : firsts.flatMap(({ stored, remarks }) => remarks.map((remark) => `${stored.name}: ${remark}`));

const tableDraft = async (
  files: readonly DraftFile[],
  rules: ColumnRules,
  signal?: AbortSignal,
): Promise<TableDraft> => {
  const firsts = [...groupedBy(files, mannerOf).values()].map((group) => group[0]!);
  const asDeclared = (dialect: Dialect): Dialect =>
    rules.trim === undefined ? dialect : { ...dialect, trim: rules.trim };
  const dialects = new Map(firsts.map((file) => [mannerOf(file), asDeclared(file.dialect)]));
  const first = (await attempt(
    files,
    { dialects, encodings: new Map(), nulls: rules.nulls },
    Infinity,
    signal,
  ))!;
  const best = await withDialects(files, await withEncodings(files, first, signal), signal);
  const { evidence, header, bytes, encodings } = best;
  const { columns, records, faults, keys } = evidence;
  const repeats = headerRepeats(columns, header);
  const declared = typesDeclared(rules, header);
  const decide = (isTrimmed: boolean): readonly Decision[] =>
    columns.map((column, index) =>
      decideColumn(column, header[index]!, {
        isRepeated: repeats > 0,
        isTrimmed,
        declared: declared[index],
        areNullsDeclared: rules.nulls !== undefined,
      }),
    );
  const isTrimmed =
    [...best.dialects.values()].some(({ trim }) => trim === true) ||
    (rules.trim === undefined && mayTrim(evidence, decide(true)));
  const decisions = decide(isTrimmed);
  const dialectOf = (file: DraftFile): Dialect => ({
    ...best.dialects.get(mannerOf(file))!,
    trim: isTrimmed,
  });
  const key = chooseKey(keysFound(keys), columns, header, records);
  const chosenKey =
    key?.every((index) => decisions[index]!.isOneToOne && decisions[index]!.missing === 0) === true
      ? key
      : undefined;
  return {
    files: files.map((file) => {
      const { stored, location, encoding } = file;
      const own = encodings.get(stored.name) ?? encoding;
      return { name: stored.name, location, encoding: own, dialect: dialectOf(file) };
    }),
    dialect: dialectOf(files[0]!),
    header,
    decisions,
    repeats,
    key: rules.key === undefined ? chosenKey : declaredKey(rules, header, decisions),
    isKeyUnknown: keys.isLost && rules.key === undefined,
    records,
    bytes,
    faults: [...faults].map(([code, { count, first: one }]) => ({ code, count, first: one })),
    remarks: remarksOf(firsts),
  };
};

/**
 * Returns the same text for files of one table: with the same header. Without a header: with the
 * same number of fields, and names that differ only in numbers (sales-2023.csv, sales-2024.csv).
 */
const shapeOf = (file: DraftFile): string => {
  const { stored, dialect, header } = file;
  const isNamed = dialect.header === true && header.some((name) => name !== '');
  return JSON.stringify(isNamed ? header : [mannerOf(file), header.length, patternOf(stored.name)]);
};

const groupFiles = (files: readonly DraftFile[]): readonly (readonly DraftFile[])[] => [
  ...groupedBy(files, shapeOf).values(),
];

export const draftTables = async (
  files: readonly DraftFile[],
  rules: ColumnRules,
  signal?: AbortSignal,
): Promise<readonly TableDraft[]> => {
  checkRules(
    rules,
    files.map(({ header }) => header),
  );
  const drafts: TableDraft[] = [];
  for (const group of groupFiles(files)) drafts.push(await tableDraft(group, rules, signal));
  return drafts;
};
