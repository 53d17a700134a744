// Loads a block with one COPY that skips records with refused texts, from PostgreSQL 17 on.

import type { Query } from '../../db/sql.ts';
import { rejectOf } from '../../format/rows/record-judge.ts';
import { sliceBlock } from '../../format/records/record-slice.ts';
import { positionAfter, type RecordBlock } from '../../format/records/record-blocks.ts';
import type { Fault } from '../../core/model.ts';
import { addRows, decodeRows, type Chunk, type ChunkLoad, type Rows } from './chunk.ts';
import { copyRows, type Attempts } from './attempts.ts';
import { askServer } from './ask-server.ts';

/**
 * Copies rows, and returns the numbers, from 1, of the rows that the server skipped. They are read
 * from notices, whose texts depend on the server's language, so they are only hints. Undefined if
 * there are not as many numbers as skipped rows.
 */
const copySkipping = async (
  load: ChunkLoad,
  statement: string,
  { copyBytes, counts }: Rows,
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

/** Copies rows, and returns the faults of the skipped records. Undefined if some are not found. */
const skipRefused = async (
  load: ChunkLoad,
  statement: string,
  rows: Rows,
  first: readonly Query[],
): Promise<ReadonlyMap<number, Fault> | undefined> => {
  const skipped = await copySkipping(load, statement, rows, first);
  const faults = new Map<number, Fault>();
  if (skipped === undefined || skipped.size === 0) return skipped && faults;
  const { copy, servedTexts } = load.reader;
  await askServer(load.client, copy, servedTexts(rows.block, skipped), (fault, records) => {
    for (const record of records) if (!faults.has(record)) faults.set(record, fault);
  });
  return faults.size === skipped.size ? faults : undefined;
};

/**
 * Copies a block, and rejects the records that the server skips. Returns false, without rows, if
 * the server cannot skip records, or if it is not clear which it has skipped.
 */
export const copyAndSkip = async (
  load: ChunkLoad,
  attempts: Attempts,
  whole: RecordBlock,
  chunk: Chunk,
): Promise<boolean> => {
  const { client, reader, rejectsMax } = load;
  const statement = reader.copy.skipping;
  if (statement === undefined || client.serverMajor < 17) return false;
  const rows = decodeRows(load, whole, chunk);
  const { block } = rows;
  let faults: ReadonlyMap<number, Fault> | undefined;
  const refusal = await attempts.attempt(async (first) => {
    faults = await skipRefused(load, statement, rows, first);
  });
  if (refusal !== undefined || faults === undefined) {
    attempts.undo();
    return false;
  }
  const skipped = [...faults].map(([record, fault]) => rejectOf(block, record, { faults: [fault] }));
  const rejects = [...rows.rejects, ...skipped].toSorted((a, b) => a.position.record - b.position.record);
  const room = rejectsMax - chunk.rejects.length;
  if (rejects.length > room) {
    attempts.undo();
    const records = rejects[room - 1]!.position.record + 1 - block.position.record;
    return copyAndSkip(load, attempts, sliceBlock(block, 0, records), chunk);
  }
  const counts = {
    ...rows.counts,
    copied: rows.counts.copied - skipped.length,
    rejected: rejects.length,
  };
  addRows(load, { end: positionAfter(block), counts, rejects }, chunk);
  return true;
};
