// Reads all records of a table's files, and tries other dialects and encodings where records have faults.

import type { Dialect } from '../../core/declaration.ts';
import { readBytes } from '../../core/limits.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { readHeader } from '../../format/records/header.ts';
import { isQuoteFault } from '../../format/records/raw-fields.ts';
import { recordBlocks, type RecordBlock } from '../../format/records/record-blocks.ts';
import { recordFields } from '../../format/records/record-fields.ts';
import { createRecordParser, recordBytes } from '../../format/records/record-parser.ts';
import { createSplitter } from '../../format/records/splitter.ts';
import { openInput, withBytes } from '../../input/input.ts';
import type { GivenDialect } from './delimiter.ts';
import { otherDialects } from './dialect.ts';
import { draftSpec, type DraftFile } from './draft-files.ts';
import type { EncodingCandidate } from './encoding.ts';
import { createTableEvidence, endGathering, observeBlock, type TableEvidence } from './observe.ts';

/** Returns the same text for files that are read in the same dialect. */
export const mannerOf = ({ dialect: { delimiter, skipLines, comment } }: DraftFile): string =>
  JSON.stringify([delimiter, skipLines, comment]);

interface Trial {
  readonly nulls: ReadonlySet<string> | undefined;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly encodings: ReadonlyMap<string, EncodingCandidate>;
}

export interface Attempt extends Trial {
  readonly evidence: TableEvidence;
  readonly header: readonly string[];
  readonly bytes: number;
  /** Faulty records at the ends of files that are cut off inside a quote. */
  readonly cut: number;
}

/** A quoted field that is not closed: counts before its record. */
interface OpenQuote {
  readonly records: number;
  readonly faulty: number;
}

/** Returns the index of the first record of a block with a quoted field that is never closed. */
const openQuoteIn = (block: RecordBlock, dialect: Dialect): number | undefined => {
  for (const [index, fault] of block.spans.faults) {
    if (fault !== 'quote') continue;
    const fields = recordFields(recordBytes(block, index), dialect);
    if (isQuoteFault(fields) && fields.fault === 'open') return index;
  }
  return undefined;
};

interface Watch {
  /** An attempt ends if so many records are faulty. */
  readonly faultyMax: number;
  /** Called once, after the first faulty record. The attempt ends if it returns true. */
  readonly endsAtFault?: (evidence: TableEvidence) => Promise<boolean>;
  readonly signal: AbortSignal | undefined;
}

interface Observed {
  readonly bytes: number;
  readonly cut: number;
}

/** Returns undefined if the attempt ends before the file does. */
const observeFile = async (
  draft: DraftFile,
  { dialects, encodings }: Trial,
  evidenceOf: (header: readonly string[]) => TableEvidence | undefined,
  endsAt: (evidence: TableEvidence) => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<Observed | undefined> => {
  const { stored, encoding, access } = draft;
  const dialect = dialects.get(mannerOf(draft))!;
  const file = { ...stored, encoding: (encodings.get(stored.name) ?? encoding).encoding };
  const named = { table: stored.table, file: stored.name };
  const head = await withBytes(file, access, (read) => readHeader(read, dialect, named));
  const evidence = evidenceOf(head.names);
  if (evidence === undefined) return undefined;
  const { names: header, lineEnd, dataByte, dataLine } = head;
  const table = draftSpec(access.declared, dialect, file.encoding);
  const fields = fieldsOf({ header, name: stored.name, constants: {} }, dialect);
  const observing = { file: stored.name, dialect, parse: createRecordParser(table, fields, lineEnd) };
  const reads = openInput({ ...file, lineEnd }, access, dataByte, Infinity, { blockBytes: readBytes });
  const start = { byte: dataByte, line: dataLine, record: 1 };
  let end = dataByte;
  let open: OpenQuote | undefined;
  for await (const block of recordBlocks(reads, start, createSplitter(dialect, header.length, lineEnd))) {
    signal?.throwIfAborted();
    const { records, faulty } = evidence;
    observeBlock(evidence, block, observing);
    end = block.position.byte + block.fileBytes;
    if (open === undefined) {
      const index = openQuoteIn(block, dialect);
      if (index !== undefined) open = { records: records + index, faulty };
    }
    // While no good record follows an open quote, it may be the end of a file that is cut off.
    if (open !== undefined && evidence.records > open.records) open = undefined;
    if (open === undefined && (await endsAt(evidence))) return undefined;
  }
  return { bytes: end, cut: open === undefined ? 0 : evidence.faulty - open.faulty };
};

const attempt = async (
  files: readonly DraftFile[],
  trial: Trial,
  { faultyMax, endsAtFault, signal }: Watch,
): Promise<Attempt | undefined> => {
  let evidence: TableEvidence | undefined;
  let [bytes, cut] = [0, 0];
  let isFirstFault = endsAtFault !== undefined;
  const endsAt = async (known: TableEvidence): Promise<boolean> => {
    if (known.faulty === cut) return false;
    const isFirst = isFirstFault;
    isFirstFault = false;
    return known.faulty - cut >= faultyMax || (isFirst && (await endsAtFault!(known)));
  };
  for (const file of files) {
    const evidenceOf = (header: readonly string[]) => {
      evidence ??= createTableEvidence(header, trial.dialects.get(mannerOf(file))!, trial.nulls);
      return evidence.columns.length === header.length ? evidence : undefined;
    };
    const observed = await observeFile(file, trial, evidenceOf, endsAt, signal);
    if (observed === undefined) return undefined;
    bytes += observed.bytes;
    cut += observed.cut;
  }
  if (evidence === undefined) return undefined;
  endGathering(evidence);
  return { ...trial, evidence, header: evidence.names, bytes, cut };
};

/** Returns a trial with the encoding of the first file that turns out not to be UTF-8. */
const withEncoding = async (
  files: readonly DraftFile[],
  trial: Trial,
  { faults }: TableEvidence,
): Promise<Trial | undefined> => {
  const wrong = faults.get('invalid_utf8')?.first.file;
  const file = files.find(({ stored }) => stored.name === wrong);
  if (file === undefined || trial.encodings.has(file.stored.name)) return undefined;
  const found = await file.findEncoding();
  if (found.encoding === file.encoding.encoding) return undefined;
  return { ...trial, encodings: new Map([...trial.encodings, [file.stored.name, found]]) };
};

function* otherTrials(trial: Trial, { faults }: TableEvidence, given: GivenDialect): Generator<Trial> {
  for (const [manner, dialect] of trial.dialects)
    for (const other of otherDialects(dialect, [...faults.keys()], given))
      yield { ...trial, dialects: new Map([...trial.dialects, [manner, other]]) };
}

/** Returns the attempt of several dialects with the fewest faulty records. */
const withDialects = async (
  files: readonly DraftFile[],
  first: Attempt,
  given: GivenDialect,
  signal: AbortSignal | undefined,
): Promise<Attempt> => {
  let best = first;
  for (const [manner, known] of first.dialects)
    for (const dialect of otherDialects(known, [...first.evidence.faults.keys()], given)) {
      const faultyMax = best.evidence.faulty - best.cut;
      // Whether a dialect has no faulty record at all was tried at the first fault.
      if (faultyMax <= 1) return best;
      const trial = { ...best, dialects: new Map([...best.dialects, [manner, dialect]]) };
      const other = await attempt(files, trial, { faultyMax, signal });
      if (other?.header.length === best.header.length) best = other;
    }
  return best;
};

/**
 * Reads all records. At the first faulty record, tries whether another encoding or dialect has no
 * faulty record at all; the first attempt goes on if none has.
 */
export const readRecords = async (
  files: readonly DraftFile[],
  trial: Trial,
  given: GivenDialect,
  signal: AbortSignal | undefined,
): Promise<Attempt> => {
  let better: Attempt | undefined;
  const endsAtFault = async (evidence: TableEvidence): Promise<boolean> => {
    const encoded = await withEncoding(files, trial, evidence);
    if (encoded !== undefined) better = await readRecords(files, encoded, given, signal);
    const fields = evidence.columns.length;
    for (const other of otherTrials(trial, evidence, given)) {
      if (better !== undefined) return true;
      const clean = await attempt(files, other, { faultyMax: 1, signal });
      if (clean?.header.length === fields) better = clean;
    }
    return better !== undefined;
  };
  const first = await attempt(files, trial, { faultyMax: Infinity, endsAtFault, signal });
  if (better !== undefined) return better;
  const encoded = await withEncoding(files, trial, first!.evidence);
  return encoded === undefined
    ? withDialects(files, first!, given, signal)
    : readRecords(files, encoded, given, signal);
};
