// National hourly files as NOAA ships them: the records of one station in data/noaa repeated over the real station numbers, so
// that every (wban, date, time) occurs once.

import { readFileSync } from 'node:fs';
import { readNoaaMonths } from '../test/helpers/noaa-files.ts';
import type { FileKind } from './generate.ts';
import { randomFrom, shuffled } from './random.ts';

const readStations = (): readonly string[] =>
  readFileSync('data/noaa/201505station.txt', 'latin1')
    .split('\n')
    .map((line) => line.split('|')[0]!)
    .filter((wban) => /^\d{5}$/.test(wban));

/** Where the rest of a line begins, after `13904,2011`. */
const afterYear = '13904,2011'.length;

/** Batches of lines without end: a month of every station, then the next month; half a year later, the next year. */
function* batches(seed: number): Generator<readonly string[], never> {
  const stations = shuffled(readStations(), randomFrom(seed));
  const { months } = readNoaaMonths();
  for (let year = 2011; ; year += 1)
    for (const month of months) {
      const rests = month.map((line) => `,${year}${line.slice(afterYear)}\n`);
      for (const station of stations) yield rests.map((rest) => station + rest);
    }
}

const [header = ''] = readFileSync(new URL('../data/noaa/201101hourly.txt', import.meta.url), 'latin1').split(
  '\n',
  1,
);

/** Names of the columns, as in the header. */
export const hourlyHeader: readonly string[] = header.trim().split(',');

export const hourlyFiles: FileKind = { nameEnd: 'hourly.txt', headerLine: `${header}\n`, lines: batches };
