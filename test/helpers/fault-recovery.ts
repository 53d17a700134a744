// A server that goes away under a run: what the ledger holds meanwhile, and what the run must say about it.

import { expect } from 'vitest';
import { eventsOf, expectEnd, type Ended } from './fault-child.ts';
import { chunksOf, type ChunkRow } from './fault-outcome.ts';
import type { Point, Verdict } from './fault-proxy.ts';
import type { Scene } from './fault-scene.ts';
import { restarts } from './fault-server.ts';

/** `verdict`: what becomes of the struck effect. `isKilled`: `etl` is killed first. */
export interface Blow {
  readonly blow?: (clientPort: number) => Promise<void>;
  readonly verdict?: Verdict;
  readonly isKilled?: boolean;
}

/**
 * Does something to the server, and returns the chunks that were in staging before: nobody reaches the server until the
 * ledger is read.
 */
const whileClosed = async ({ proxy, url }: Scene, act: () => Promise<void>): Promise<readonly ChunkRow[]> => {
  proxy.setMode('closing');
  await act();
  const chunks = await chunksOf(url);
  proxy.setMode('open');
  return chunks;
};

/** A run whose server is struck at a point, by a crash if not otherwise; and the chunks that were in staging then. */
export const runThrough = async (
  scene: Scene,
  point: Point,
  { blow = restarts.crash, verdict = 'drop', isKilled = false }: Blow = {},
): Promise<{ ended: Ended; chunks: readonly ChunkRow[] }> => {
  let chunks: readonly ChunkRow[] = [];
  const ended = await scene.runStruck(point, (child) => async (_, clientPort) => {
    if (isKilled) child.kill('SIGKILL');
    chunks = await whileClosed(scene, () => blow(clientPort));
    return verdict;
  });
  return { ended, chunks };
};

export const recordsOf = (chunks: readonly ChunkRow[]): number =>
  chunks.reduce((sum, { records }) => sum + records, 0);

/** One line when the server goes, one when it is back, and nothing of what went on inside. */
export const expectCalm = ({ said }: Ended): void => {
  const lines = said.split('\n');
  const about = lines.filter((line) => /waiting up to|crashed and recovered|server is back/.test(line));
  expect({ lines: about.length, said }).toEqual({ lines: 2, said });
  expect(said).not.toMatch(/^\s+at |node_modules|bullmq|Error:|warning/im);
};

/** The run waited once, lost these chunks to a crash (or none, without one), and finished. */
export const expectRecovered = (ended: Ended, crashed: boolean, lost: readonly ChunkRow[]): void => {
  expectEnd(ended, 0);
  expect(eventsOf(ended, 'waiting')).toHaveLength(1);
  expect(eventsOf(ended, 'recovered')).toMatchObject([
    { type: 'recovered', crashed, chunks: lost.length, records: recordsOf(lost) },
  ]);
  expectCalm(ended);
};

/** None of the chunks is what it was: each was loaded again. */
export const expectReplaced = async ({ url }: Scene, lost: readonly ChunkRow[]): Promise<void> => {
  const now = new Set((await chunksOf(url)).map(({ proof }) => proof));
  expect(lost.filter(({ proof }) => now.has(proof))).toEqual([]);
};

/** Every one of the chunks is what it was. */
export const expectKept = async ({ url }: Scene, kept: readonly ChunkRow[]): Promise<void> => {
  expect(await chunksOf(url)).toEqual(expect.arrayContaining([...kept]));
};
