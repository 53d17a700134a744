// QCLCD-shaped files of any size: real records repeated over made-up station numbers, so that keys stay unique.

import { mkdirSync, readFileSync, readdirSync, writeFileSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { settle } from './settled.ts';

export interface NoaaFiles {
  /** Working directory for `etl run pipelines/noaa.ts`: it holds data/noaa. */
  readonly directory: string;
  readonly records: number;
}

const source = 'data/noaa';

/** The real hourly records: the header, and the lines of each month in order, as they are. */
export const readNoaaMonths = (): { header: string; months: readonly (readonly string[])[] } => {
  const texts = readdirSync(source)
    .filter((name) => name.endsWith('hourly.txt'))
    .sort()
    .map((name) => readFileSync(join(source, name), 'latin1').trimEnd().split('\n'));
  return { header: texts[0]![0]!, months: texts.map((lines) => lines.slice(1)) };
};

/**
 * Writes `files` hourly files with `records` records in all into `directory`/data/noaa, and the station list beside
 * them. The same arguments give the same bytes.
 */
export const writeNoaaFiles = (directory: string, records: number, files: number): NoaaFiles => {
  const target = join(directory, source);
  mkdirSync(target, { recursive: true });
  const { header, months } = readNoaaMonths();
  const lines = months.flat();
  const perFile = Math.ceil(records / files);
  for (let file = 0; file < files; file += 1) {
    const rows: string[] = [header];
    for (let record = file * perFile; record < Math.min(records, (file + 1) * perFile); record += 1) {
      const station = String(10_000 + Math.floor(record / lines.length)).padStart(5, '0');
      rows.push(station + lines[record % lines.length]!.slice(5));
    }
    writeFileSync(join(target, `${String(file + 1).padStart(3, '0')}hourly.txt`), `${rows.join('\n')}\n`);
  }
  copyFileSync(join(source, '201505station.txt'), join(target, '201505station.txt'));
  for (const name of readdirSync(target)) settle(join(target, name));
  return { directory, records };
};
