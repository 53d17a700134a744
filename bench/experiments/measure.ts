// Measures sides in turns: seconds, and bytes of write-ahead log.

import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { median } from '../measure.ts';
import { withPg } from './connect.ts';
import { checkpoint, logPosition, type Lab } from './lab.ts';

/** One side of a comparison. */
interface Work {
  readonly name: string;
  /** Before each turn, outside of what is measured. */
  readonly before?: (client: pg.Client) => Promise<unknown>;
  /** May say how many seconds count, if not all of them do. */
  readonly work: (client: pg.Client) => Promise<number | void>;
}

export interface Measured {
  readonly seconds: number;
  readonly logBytes: number;
}

/** Runs all sides `lab.rounds` times in turns, so that a disturbance hits each of them; medians by name. */
export const measureInTurns = async (
  lab: Lab,
  works: readonly Work[],
): Promise<(name: string) => Measured> => {
  const rounds = new Map<string, Measured[]>(works.map(({ name }) => [name, []]));
  for (let round = 0; round < lab.rounds; round += 1)
    for (const { name, before, work } of works)
      await withPg(lab.url, async (client) => {
        await before?.(client);
        await checkpoint(client);
        const position = await logPosition(client);
        const start = performance.now();
        const counted = await work(client);
        const seconds = counted ?? (performance.now() - start) / 1000;
        rounds.get(name)!.push({ seconds, logBytes: (await logPosition(client)) - position });
      });
  return (name) => {
    const own = rounds.get(name)!;
    return {
      seconds: median(own.map(({ seconds }) => seconds)),
      logBytes: median(own.map(({ logBytes }) => logBytes)),
    };
  };
};

/** Rows a piece: some hundred kilobytes. */
const pieceRows = 5_000;

function* textRows(rows: number, line: (row: number) => string): Generator<string, void> {
  for (let row = 0; row < rows; row += pieceRows) {
    const length = Math.min(pieceRows, rows - row);
    yield Array.from({ length }, (_, place) => line(row + place)).join('');
  }
}

/** One COPY of made-up rows, in its text format. */
export const copyRows = async (
  client: pg.Client,
  table: string,
  rows: number,
  line: (row: number) => string = sentence,
): Promise<void> =>
  pipeline(Readable.from(textRows(rows, line)), client.query(copyFrom(`copy ${table} from stdin`)));

/** A row of one text. */
export const sentence = (row: number): string => `row ${row} has a text of about the length of a sentence\n`;
