// What `etl init` makes of 500 files by chance: each cell comes back from the table, or a line that begins with ! names its column.
//
//   FUZZ_FILES=500 FUZZ_SEED=1 npm run test:fuzz -- init

import { describe, expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { compareCells } from '../helpers/init-cells.ts';
import { fileByChance } from '../helpers/init-files.ts';
import { createChance, readCount } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const seed = readCount('FUZZ_SEED', 1 + (Date.now() % 1_000_000));
const all = readCount('FUZZ_FILES', 500);
const atOnce = 100;

describe(`FUZZ_SEED=${seed}`, () => {
  const database = useDatabase();
  it('every cell comes back, or a line that begins with ! names its column', async () => {
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
});
