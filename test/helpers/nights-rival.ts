// A second pipeline on the tables of a mode: every night it has a file of its own, whose rows nobody else has.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sale } from './nights-feed.ts';
import type { NightMode } from './nights-modes.ts';

/** Below are the numbers of the rows that the pipeline of the mode has; and its months are earlier ones. */
const firstSeq = 1_000_000;
const firstId = 1_000;

export interface Rival {
  /** Where its files are. */
  readonly source: string;
  /** Writes the file of the next night, and returns the rows of all. */
  readonly next: () => readonly Sale[];
}

export const startRival = (directory: string, { name, valid }: NightMode): Rival => {
  const source = `${name}-rival`;
  mkdirSync(join(directory, source));
  const all: Sale[] = [];
  let night = 0;
  const next = (): readonly Sale[] => {
    night += 1;
    const rows = [1, 2].map((): Sale => {
      const place = all.length;
      const at = 1_000 * place;
      const sale = {
        seq: firstSeq + place,
        id: firstId + place,
        day: `2030-0${1 + (place % 3)}-11`,
        pieces: 1 + (place % 9),
        at,
        gone: false,
        note: null,
      };
      all.push(valid === undefined ? sale : { ...sale, valid: [at, null] });
      return sale;
    });
    const lines = rows.map(({ seq, id, day, pieces, at }) =>
      [seq, id, day, pieces, at, 'n', new Date(1_000 * at).toISOString()].join(),
    );
    const text = ['seq,id,day,pieces,at,gone,since', ...lines, ''].join('\n');
    writeFileSync(join(directory, source, `${night}.csv`), text);
    return [...all];
  };
  return { source, next };
};
