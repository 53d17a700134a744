// National hourly files of any size, as NOAA ships them: the shipped records of one station repeated over the real
// station numbers, so that every (wban, date, time) stands there once. Written as a stream; the same arguments give the
// same bytes.

import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readNoaaMonths } from '../test/helpers/noaa-files.ts';

export interface GeneratedFile {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Dataset {
  /** Holds the files and nothing else. */
  readonly directory: string;
  readonly records: number;
  /** Names of the columns, as in the header. */
  readonly header: readonly string[];
  readonly files: readonly GeneratedFile[];
}

const readStations = (): readonly string[] =>
  readFileSync('data/noaa/201505station.txt', 'latin1')
    .split('\n')
    .map((line) => line.split('|')[0]!)
    .filter((wban) => /^\d{5}$/.test(wban));

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const shuffled = <T>(values: readonly T[], random: () => number): readonly T[] => {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
};

/** Where the rest of a line begins, behind `13904,2011`. */
const behindYear = '13904,2011'.length;

/** Batches of lines without end: a month of every station, then the next month; half a year later, the next year. */
function* batches(seed: number): Generator<readonly string[], never> {
  const stations = shuffled(readStations(), randomFrom(seed));
  const { months } = readNoaaMonths();
  for (let year = 2011; ; year += 1)
    for (const month of months) {
      const rests = month.map((line) => `,${year}${line.slice(behindYear)}`);
      for (const station of stations) yield rests.map((rest) => station + rest);
    }
}

/** Texts of files with `perFile[n]` records each, in pieces of a few hundred kilobytes; `undefined` ends a file. */
function* pieces(
  perFile: readonly number[],
  header: string,
  seed: number,
): Generator<string | undefined, void> {
  const source = batches(seed);
  let batch: readonly string[] = [];
  let used = 0;
  for (const records of perFile) {
    let piece = [header];
    for (let left = records; left > 0;) {
      if (used === batch.length) {
        batch = source.next().value;
        used = 0;
      }
      const lines = batch.slice(used, used + left);
      used += lines.length;
      left -= lines.length;
      piece.push(...lines);
      yield `${piece.join('\n')}\n`;
      piece = [];
    }
    yield undefined;
  }
}

/** Writes a file from pieces, up to the next `undefined`. */
const writePieces = async (
  path: string,
  records: number,
  source: Iterator<string | undefined>,
): Promise<GeneratedFile> => {
  const hash = createHash('sha256');
  let bytes = 0;
  function* fileBytes(): Generator<Buffer, void> {
    for (let next = source.next(); !next.done && next.value !== undefined; next = source.next()) {
      const piece = Buffer.from(next.value, 'latin1');
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(Readable.from(fileBytes()), createWriteStream(path));
  return { path, records, bytes, sha256: hash.digest('hex') };
};

/** Writes `records` records into `files` files of nearly the same size. The rows do not depend on `files`. */
export const generate = async (
  directory: string,
  records: number,
  files: number,
  seed: number,
): Promise<Dataset> => {
  mkdirSync(directory, { recursive: true });
  const { header } = readNoaaMonths();
  const perFile = Array.from(
    { length: files },
    (_, file) => Math.floor((records * (file + 1)) / files) - Math.floor((records * file) / files),
  );
  const source = pieces(perFile, header, seed);
  const written: GeneratedFile[] = [];
  for (const [index, own] of perFile.entries()) {
    const path = join(directory, `${String(index + 1).padStart(3, '0')}hourly.txt`);
    written.push(await writePieces(path, own, source));
  }
  return { directory, records, header: header.trim().split(','), files: written };
};
