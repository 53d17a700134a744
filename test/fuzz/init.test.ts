// What `etl init` makes of 500 files by chance, and of real files: each cell comes back from the table, or a line that begins with ! names its column.
//
//   FUZZ_FILES=500 FUZZ_SEED=1 npm run test:fuzz -- init

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { zstd } from '../../src/input/decode/zstd.ts';
import { useFiles } from '../helpers/files.ts';
import { compareCells } from '../helpers/init-cells.ts';
import { fileByChance } from '../helpers/init-files.ts';
import { createChance, readCount } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const seed = readCount('FUZZ_SEED', 1 + (Date.now() % 1_000_000));
const all = readCount('FUZZ_FILES', 500);
const atOnce = 100;

const database = useDatabase();

it(`FUZZ_SEED=${seed}: every cell comes back, or a line that begins with ! names its column`, async () => {
  const chance = createChance(seed);
  const sums = { files: 0, cells: 0, lines: 0, questions: 0 };
  for (let first = 0; first < all; first += atOnce) {
    const locations = Array.from({ length: Math.min(atOnce, all - first) }, (_, index) =>
      files.write(`${first}/t${index}x.csv`, fileByChance(chance, first + index)),
    );
    const found = await compareCells(locations, files.directory, database);
    expect(found.silent).toEqual([]);
    expect(found.tables).toBe(locations.length);
    sums.files += found.tables;
    sums.cells += found.cells;
    sums.lines += found.lines.length;
    sums.questions += found.questions;
  }
  console.log(JSON.stringify(sums));
});

const bytesOf = async (path: string): Promise<Buffer> => {
  if (!path.endsWith('.zst')) return readFileSync(path);
  const whole: Buffer[] = [];
  const content = async function* () {
    yield readFileSync(path);
  };
  for await (const block of zstd.decode(content())) whole.push(Buffer.from(block));
  return Buffer.concat(whole);
};

it('every cell of the real files of this project does, too', async () => {
  const listed = (directory: string): readonly string[] =>
    readdirSync(directory).map((name) => `${directory}/${name}`);
  const paths = [
    'data/noaa/201101hourly.txt',
    'data/noaa/201505station.txt',
    'test/fixtures/csv-spectrum/csvs/comma_in_quotes.csv',
    'test/fixtures/csv-spectrum/csvs/json.csv',
    ...['geo', 'misc', 'noaa'].flatMap((name) => listed(`test/fixtures/public/${name}`)),
  ].filter((path) => !path.includes('head'));
  const locations: string[] = [];
  for (const path of paths) locations.push(files.write(basename(path, '.zst'), await bytesOf(path)));
  const { tables, silent, lines, cells, questions } = await compareCells(
    locations,
    files.directory,
    database,
  );
  console.log(JSON.stringify({ files: tables, cells, lines: lines.length, questions }));
  expect(silent).toEqual([]);
  expect(tables).toBe(locations.length);
});
