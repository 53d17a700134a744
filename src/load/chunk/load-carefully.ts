// Loads a chunk that the server refused, and makes the records at fault rejects.
//
// First the server checks the texts of types that only it knows. Then COPY under savepoints finds
// other faults. COPY's error names a line, but a text in the file may imitate such an error. So a
// record is at fault only if the server refuses it alone.

import { runTogether } from '../../db/client.ts';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import type { RecordBlock } from '../../format/records/record-blocks.ts';
import { sliceBlock } from '../../format/records/record-slice.ts';
import type { Fault } from '../../core/model.ts';
import { onOneLine } from '../../core/wording.ts';
import { addRows, chunkBlocks, decodeRows, type Chunk, type ChunkLoad } from './chunk.ts';
import { createAttempts, tryCopy, type Attempts } from './attempts.ts';
import { askServer } from './ask-server.ts';
import type { ServedTexts } from './served-texts.ts';
import { copyAndSkip } from './skip-refused.ts';
import type { FileCopy } from './file-reader.ts';

/** Finds the lines that COPY's error names, in any language: `COPY t, line 1, column c: "…"`. */
const placesIn = (error: Error): readonly { readonly line: number; readonly rest: string }[] =>
  [...((error as { where?: string }).where ?? '').matchAll(/^COPY .+?, \S+ (\d+)(.*)/gm)].map(
    ([, line, rest]) => ({ line: Number(line), rest: rest! }),
  );

export const refusalOf = ({ columns }: FileCopy, error: Error): Fault => {
  const rest = placesIn(error)[0]?.rest ?? '';
  const named = columns.filter((name) => `${rest}:`.startsWith(`, column ${name}:`));
  return {
    // The longest name counts: it may begin with the name of another column and a colon.
    column: named.toSorted((a, b) => b.length - a.length)[0] ?? null,
    code: 'server',
    reason: `${codeOf(error)} ${onOneLine(messageOf(error))}`,
  };
};

interface Sifting {
  readonly load: ChunkLoad;
  readonly attempts: Attempts;
  readonly chunk: Chunk;
  readonly block: RecordBlock;
  readonly refused: Map<number, Fault>;
  served?: ServedTexts;
}

const isFull = ({ load, chunk }: Sifting): boolean => chunk.rejects.length >= load.rejectsMax;

const refuse = ({ refused, block }: Sifting, fault: Fault, records: readonly number[]): void => {
  for (const record of records)
    if (!refused.has(record)) {
      refused.set(record, fault);
      block.spans.faults.set(record, 'server');
    }
};

/** Copies records [from, to), fewer if the chunk gets full of rejects. Returns a refusal. */
const copyRecords = async (sifting: Sifting, from: number, to: number): Promise<Error | undefined> => {
  const { load, attempts, chunk, refused } = sifting;
  load.breakOff.throwIfAborted();
  const whole = sifting.block;
  // A slice of the block would not count bytes between records, or of records that are too long.
  const isWhole = to - from === whole.spans.starts.length && refused.size === 0;
  const rows = decodeRows(load, isWhole ? whole : sliceBlock(whole, from, to), chunk);
  const refusal = rows.counts.copied === 0 ? undefined : await tryCopy(load, attempts, rows.copyBytes);
  if (refusal !== undefined) return refusal;
  const first = whole.position.record;
  const rejects = rows.rejects.map((one) => ({ ...one, ...refused.get(one.position.record - first) }));
  addRows(load, { ...rows, rejects }, chunk);
  return undefined;
};

const trySuspects = async (sifting: Sifting): Promise<void> => {
  const { load, attempts, chunk, block, refused } = sifting;
  for (const record of load.reader.suspects(block)) {
    if (chunk.rejects.length + refused.size >= load.rejectsMax) return;
    load.breakOff.throwIfAborted();
    const { copyBytes } = load.reader.decode(sliceBlock(block, record, record + 1));
    if (copyBytes.length === 0) continue;
    const refusal = await tryCopy(load, attempts, copyBytes);
    if (refusal === undefined) attempts.undo();
    else refuse(sifting, refusalOf(load.reader.copy, refusal), [record]);
  }
};

const sift = async (sifting: Sifting): Promise<boolean> => {
  const { load, attempts, block, refused } = sifting;
  if (sifting.served !== undefined) return false;
  const served = (sifting.served = load.reader.servedTexts(block));
  const before = refused.size;
  const take = (fault: Fault, records: readonly number[]): void => refuse(sifting, fault, records);
  // Some types fail the whole statement instead of reporting a text. COPY then finds the records.
  if (served.size > 0)
    await attempts.attempt(async (first) => {
      await runTogether(load.client, first);
      await askServer(load.client, load.reader.copy, served, take);
    });
  await trySuspects(sifting);
  return refused.size > before;
};

/** Returns the index of the record that made row number `row` of records [from, to). */
const recordOfRow = ({ load, block }: Sifting, from: number, to: number, row: number): number => {
  const hasRow = (end: number): boolean =>
    load.reader.decode(sliceBlock(block, from, end)).counts.copied >= row;
  let [low, high] = [from + row - 1, to - 1];
  // Usually every record makes a row, so the first guess is right.
  for (let at = low; low < high; at = (low + high) >> 1)
    if (hasRow(at + 1)) high = at;
    else low = at + 1;
  return low;
};

const hintOf = (sifting: Sifting, from: number, to: number, refusal: Error): number => {
  const [place, ...others] = placesIn(refusal);
  return place === undefined || others.length > 0 ? -1 : recordOfRow(sifting, from, to, place.line);
};

/**
 * Finds the first record that the server refuses alone, and copies the records before it. Returns
 * its index: `to` if the server accepts all records now, undefined if the chunk is full.
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
  // The server would refuse other records with the same text, so they are rejected now.
  const texts = placesIn(last).length === 1 && sifting.served?.get(fault.column ?? '');
  for (const records of texts ? texts.values() : [])
    if (records.includes(first)) refuse(sifting, fault, records);
  return first;
};

const copyBlock = async (
  load: ChunkLoad,
  attempts: Attempts,
  whole: RecordBlock,
  chunk: Chunk,
): Promise<void> => {
  const block = { ...whole, spans: { ...whole.spans, faults: new Map(whole.spans.faults) } };
  const sifting: Sifting = { load, attempts, chunk, block, refused: new Map() };
  const records = block.spans.starts.length;
  /** Number of records to COPY next: small after a refusal, because a refused COPY is repeated. */
  let step = records;
  let lastFound = 0;
  let from = 0;
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
 * Copies the chunk's records that the server accepts, and returns their number. Throws if it
 * refuses even a COPY without rows: then the table or the session is at fault.
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
