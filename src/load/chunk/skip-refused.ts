// From PostgreSQL 17 on, COPY skips records with a text that its type refuses: one COPY for a block, however many these are.

import type { Query } from '../../db/sql.ts';
import { rejectOf } from '../../format/rows/record-judge.ts';
import { sliceBlock } from '../../format/split/record-slice.ts';
import type { RecordBlock } from '../../format/split/record-blocks.ts';
import type { Fault } from '../../core/model.ts';
import { addToTally, takeBlock, type ChunkTally, type FileLoad, type TakenBlock } from './chunk-source.ts';
import { copyRows, type Attempts } from './attempts.ts';
import { askServer } from './ask-server.ts';

/**
 * Copies rows; returns the numbers of those that the server skipped, from 1 on, as its notices give them: one for each, and one that
 * counts them. Their words depend on the server's language, so that the numbers are only hints. Undefined: there are not as many.
 */
const copySkipping = async (
  load: FileLoad,
  statement: string,
  { copyBytes, counts }: TakenBlock['decoded'],
  first: readonly Query[],
): Promise<ReadonlySet<number> | undefined> => {
  const numbers: number[] = [];
  const listen = ({ message = '' }): void => void numbers.push(Number(/\d+/.exec(message)?.[0]));
  load.client.on('notice', listen);
  try {
    const skipped = counts.copied - (await copyRows(load, statement, copyBytes, first));
    const rows = new Set(skipped === 0 ? [] : numbers.slice(0, -1));
    return rows.size === skipped ? rows : undefined;
  } finally {
    load.client.off('notice', listen);
  }
};

/**
 * Copies a block; returns the faults of the records that the server skipped, by their indexes. Undefined: it does not refuse a text of
 * each record that its notices name.
 */
const skipRefused = async (
  load: FileLoad,
  statement: string,
  { block, decoded }: TakenBlock,
  first: readonly Query[],
): Promise<ReadonlyMap<number, Fault> | undefined> => {
  const rows = await copySkipping(load, statement, decoded, first);
  const faults = new Map<number, Fault>();
  if (rows === undefined || rows.size === 0) return rows && faults;
  await askServer(load.client, load.landing, load.servedTexts(block, rows), (fault, records) => {
    for (const record of records) if (!faults.has(record)) faults.set(record, fault);
  });
  return faults.size === rows.size ? faults : undefined;
};

/**
 * Copies a block, as far as the chunk may have its rejects. False: nothing was copied, because the server cannot skip its records, or
 * does not say which and why.
 */
export const copyAndSkip = async (
  load: FileLoad,
  attempts: Attempts,
  whole: RecordBlock,
  tally: ChunkTally,
): Promise<boolean> => {
  const { client, landing, rejectsMax } = load;
  const statement = landing.skippingStatement;
  if (statement === undefined || client.serverMajor < 17) return false;
  const taken = takeBlock(load, whole, tally);
  const { block, decoded } = taken;
  let faults: ReadonlyMap<number, Fault> | undefined;
  const refusal = await attempts.attempt(async (first) => {
    faults = await skipRefused(load, statement, taken, first);
  });
  if (refusal !== undefined || faults === undefined) {
    attempts.undo();
    return false;
  }
  const skipped = [...faults].map(([record, fault]) => rejectOf(block, record, { faults: [fault] }));
  const rejects = [...decoded.rejects, ...skipped].toSorted((a, b) => a.position.record - b.position.record);
  const room = rejectsMax - tally.rejects.length;
  if (rejects.length > room) {
    attempts.undo();
    const records = rejects[room - 1]!.position.record + 1 - block.position.record;
    return copyAndSkip(load, attempts, sliceBlock(block, 0, records), tally);
  }
  const counts = {
    ...decoded.counts,
    copied: decoded.counts.copied - skipped.length,
    rejected: rejects.length,
  };
  addToTally(load, block, { counts, rejects }, tally);
  return true;
};
