// Loads a chunk that the server refused: finds the records at fault, and makes them rejects.
//
// Texts of types that only the server knows are judged by the server, a block of records at a time and each text once. What that does
// not find is found by COPY under savepoints: its error names a line, so that three COPYs find a record. A line is only a hint: a
// record is at fault if the server refuses it alone. All that is for what skip-refused.ts cannot do.

import { runTogether } from '../../db/client.ts';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import type { RecordBlock } from '../../format/split/record-blocks.ts';
import { sliceBlock } from '../../format/split/record-slice.ts';
import type { Fault } from '../../core/model.ts';
import { onOneLine } from '../../core/wording.ts';
import { addRows, chunkBlocks, decodeRows, type Chunk, type ChunkLoad } from './chunk.ts';
import { createAttempts, tryCopy, type Attempts } from './attempts.ts';
import { askServer } from './ask-server.ts';
import type { ServedTexts } from './served-texts.ts';
import { copyAndSkip } from './skip-refused.ts';
import type { FileCopy } from './file-reader.ts';

/**
 * What COPY says of where it stopped, in any language: `COPY t, line 1, column c: "…"`. A text of the file may look like that, too: only
 * a place that is alone is surely COPY's.
 */
const placesIn = (error: Error): readonly { readonly line: number; readonly rest: string }[] =>
  [...((error as { where?: string }).where ?? '').matchAll(/^COPY .+?, \S+ (\d+)(.*)/gm)].map(
    ([, line, rest]) => ({ line: Number(line), rest: rest! }),
  );

/** The fault that the server's refusal makes of a record. */
export const refusalOf = ({ columns }: FileCopy, error: Error): Fault => {
  const rest = placesIn(error)[0]?.rest ?? '';
  const named = columns.filter((name) => `${rest}:`.startsWith(`, column ${name}:`));
  return {
    // A name may begin with another one and a colon.
    column: named.toSorted((a, b) => b.length - a.length)[0] ?? null,
    code: 'server',
    reason: `${codeOf(error)} ${onOneLine(messageOf(error))}`,
  };
};

/** A block of a chunk whose faults grow: the records that the server refuses become some, with its reasons beside them. */
interface Sifting {
  readonly load: ChunkLoad;
  readonly attempts: Attempts;
  readonly chunk: Chunk;
  readonly block: RecordBlock;
  readonly refused: Map<number, Fault>;
  /** Texts of the block that only the server can judge; read when it refuses the first record. */
  served?: ServedTexts;
}

const isFull = ({ load, chunk }: Sifting): boolean => chunk.rejects.length >= load.rejectsMax;

/** Adds records, by their indexes, to those that the server refuses; of two faults of a record, the first counts. */
const refuse = ({ refused, block }: Sifting, fault: Fault, records: readonly number[]): void => {
  for (const record of records)
    if (!refused.has(record)) {
      refused.set(record, fault);
      block.spans.faults.set(record, 'server');
    }
};

/** Copies the rows of records [from, to), as far as the chunk may have their rejects; returns the server's refusal of them. */
const copyRecords = async (sifting: Sifting, from: number, to: number): Promise<Error | undefined> => {
  const { load, attempts, chunk, refused } = sifting;
  load.breakOff.throwIfAborted();
  const whole = sifting.block;
  // A part of a block does not have the bytes that its block leaves out: those of a record that is too long, or between no records.
  const isWhole = to - from === whole.spans.starts.length && refused.size === 0;
  const rows = decodeRows(load, isWhole ? whole : sliceBlock(whole, from, to), chunk);
  const refusal = rows.counts.copied === 0 ? undefined : await tryCopy(load, attempts, rows.copyBytes);
  if (refusal !== undefined) return refusal;
  const first = whole.position.record;
  const rejects = rows.rejects.map((one) => ({ ...one, ...refused.get(one.position.record - first) }));
  addRows(load, { ...rows, rejects }, chunk);
  return undefined;
};

/** Tries the records that may be refused alone: one COPY for each, and no search. */
const trySuspects = async (sifting: Sifting): Promise<void> => {
  const { load, attempts, chunk, block, refused } = sifting;
  for (const record of load.reader.suspects(block)) {
    if (chunk.rejects.length + refused.size >= load.rejectsMax) return;
    load.breakOff.throwIfAborted();
    const { copyBytes } = load.reader.decode(sliceBlock(block, record, record + 1));
    // We have refused it by ourselves.
    if (copyBytes.length === 0) continue;
    const refusal = await tryCopy(load, attempts, copyBytes);
    if (refusal === undefined) attempts.undo();
    else refuse(sifting, refusalOf(load.reader.copy, refusal), [record]);
  }
};

/** Asks the server which texts and suspects of the block it refuses; false: none that were not known. */
const sift = async (sifting: Sifting): Promise<boolean> => {
  const { load, attempts, block, refused } = sifting;
  if (sifting.served !== undefined) return false;
  const served = (sifting.served = load.reader.servedTexts(block));
  const before = refused.size;
  const take = (fault: Fault, records: readonly number[]): void => refuse(sifting, fault, records);
  // Some types and checks end the statement instead of answering: COPY tells which records these are.
  if (served.size > 0)
    await attempts.attempt(async (first) => {
      await runTogether(load.client, first);
      await askServer(load.client, load.reader.copy, served, take);
    });
  await trySuspects(sifting);
  return refused.size > before;
};

/** The index of the record of the nth row of records [from, to); from `to` on if they have fewer rows. */
const recordOfRow = ({ load, block }: Sifting, from: number, to: number, row: number): number => {
  const hasRow = (end: number): boolean =>
    load.reader.decode(sliceBlock(block, from, end)).counts.copied >= row;
  let [low, high] = [from + row - 1, to - 1];
  // Usually each record has a row.
  for (let at = low; low < high; at = (low + high) >> 1)
    if (hasRow(at + 1)) high = at;
    else low = at + 1;
  return low;
};

/** The record that COPY says it stopped at: only a hint, as a text of the file may look like that. */
const hintOf = (sifting: Sifting, from: number, to: number, refusal: Error): number => {
  const [place, ...others] = placesIn(refusal);
  return place === undefined || others.length > 0 ? -1 : recordOfRow(sifting, from, to, place.line);
};

/**
 * Finds the first of records [from, to) that the server refuses alone, after it refused them together: copies those before it, and
 * returns its index; `to` when it now takes all of them. Undefined: the chunk is full.
 */
const findRefused = async (
  sifting: Sifting,
  from: number,
  to: number,
  refusal: Error,
): Promise<number | undefined> => {
  const hint = hintOf(sifting, from, to, refusal);
  let [first, end, last] = [from, to, refusal];
  for (let isAlone = to - from === 1; !isAlone;) {
    // Those before the hint, then that one, then halves.
    const half = hint === first ? first + 1 : (first + end + 1) >> 1;
    const cut = first < hint && hint < end ? hint : half;
    const refused = await copyRecords(sifting, first, cut);
    if (isFull(sifting)) return undefined;
    if (refused === undefined) first = cut;
    else [end, last] = [cut, refused];
    if (first === end) return end;
    isAlone = refused !== undefined && end - first === 1;
  }
  const fault = refusalOf(sifting.load.reader.copy, last);
  refuse(sifting, fault, [first]);
  // Whatever else has this text is refused, too.
  const texts = placesIn(last).length === 1 && sifting.served?.get(fault.column ?? '');
  for (const records of texts ? texts.values() : [])
    if (records.includes(first)) refuse(sifting, fault, records);
  return first;
};

/** Copies a block, until the chunk has all the rejects that it may. */
const copyBlock = async (
  load: ChunkLoad,
  attempts: Attempts,
  whole: RecordBlock,
  chunk: Chunk,
): Promise<void> => {
  const block = { ...whole, spans: { ...whole.spans, faults: new Map(whole.spans.faults) } };
  const sifting: Sifting = { load, attempts, chunk, block, refused: new Map() };
  const records = block.spans.starts.length;
  /** Records of the next COPY: few where refused ones are near each other, as what follows one is sent in vain. */
  let step = records;
  let lastFound = 0;
  let from = 0;
  // Also a block without a record has bytes that count.
  do {
    const to = Math.min(records, from + step);
    const refusal = await copyRecords(sifting, from, to);
    if (refusal === undefined) {
      from = to;
      step *= 2;
    } else if (!(await sift(sifting))) {
      const found = await findRefused(sifting, from, to, refusal);
      if (found === undefined) return;
      step = 2 * (found - lastFound + 1);
      from = lastFound = found;
    }
  } while (from < records && !isFull(sifting));
};

/**
 * Loads the chunk that begins at `from` block by block; records that the server refuses become rejects. Throws what it
 * refuses of no record at all: that is about the table or the session.
 */
export const copyCarefully = async (load: ChunkLoad, chunk: Chunk): Promise<number> => {
  const attempts = createAttempts(load.client);
  const refusal = await tryCopy(load, attempts, Buffer.alloc(0));
  if (refusal !== undefined) throw refusal;
  for await (const block of chunkBlocks(load, chunk))
    if (!(await copyAndSkip(load, attempts, block, chunk))) await copyBlock(load, attempts, block, chunk);
  await attempts.end();
  return chunk.counts.copied;
};
