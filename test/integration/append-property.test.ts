// Whatever happens to files, appending with reload and unload makes what replacing makes.

import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, sqlFile, type Pipeline } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { createChance, readCount } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const nights = 6;

files.write('total.sql', 'select pieces, count(*) as sales from sale group by pieces');
const pipeline = (name: string, publish: unknown): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      sale: {
        source: csv('in/*.csv'),
        columns: { id: column.text('id'), pieces: column.integer('pieces') },
        primaryKey: ['id'],
        publish: publish as 'append',
        guard: false,
      },
      total: { from: ['sale'], transform: sqlFile('total.sql') },
    },
  });

/** Both tables, but for the column that only one of them has. */
const madeBy = async (name: string): Promise<unknown> =>
  (
    await database.query(
      `select (select json_agg(json_build_array(id, pieces) order by id) from ${name}.sale) as sales,
        (select json_agg(t order by pieces) from ${name}.total t) as totals`,
    )
  ).rows[0];

const seed = readCount('APPEND_SEED', 15);

it(`makes the same of the same files, with seed ${seed}`, async () => {
  const { between, pick } = createChance(seed);
  /** Number of the version by file. */
  const there = new Map<string, number>();
  const write = (file: string): void => {
    const version = (there.get(file) ?? 0) + between(1, 3);
    there.set(file, version);
    const rows = Array.from({ length: between(0, 4) }, (_, place) => `${file}-${place},${version % 3}`);
    files.write(`in/${file}.csv`, ['id,pieces', ...rows, ''].join('\n'));
  };
  const options = {
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
    workers: 1,
  };
  const appended = pipeline('appended', { mode: 'append', changed: 'reload', gone: 'unload' });
  const replaced = pipeline('replaced', 'replace');
  for (let night = 1; night <= nights; night += 1) {
    for (let changes = between(1, 4); changes > 0; changes -= 1) write(`f${between(1, 9)}`);
    if (there.size > 2) {
      const file = pick([...there.keys()]);
      there.delete(file);
      rmSync(`${files.directory}/in/${file}.csv`);
    }
    await runPipeline(appended, options);
    await runPipeline(replaced, options);
    expect(await madeBy('appended'), `night ${night}`).toEqual(await madeBy('replaced'));
  }
  expect(await runPipeline(appended, options)).toMatchObject({ outcome: 'unchanged' });
});
