// Whatever `etl init` makes of a file, each cell comes back from the table, or a line that begins with ! names its column. The suite
// fuzz does the same with 500 files.

import { expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { compareCells } from '../helpers/init-cells.ts';
import { fileByChance } from '../helpers/init-files.ts';
import { createChance, searched } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

it('every cell of files by chance comes back, or a line that begins with ! names its column', async () => {
  const chance = createChance(37);
  const locations = Array.from({ length: searched(40) }, (_, index) =>
    files.write(`t${index}x.csv`, fileByChance(chance, index)),
  );
  const { tables, silent } = await compareCells(locations, files.directory, database);

  expect(silent).toEqual([]);
  expect(tables).toBe(locations.length);
});
