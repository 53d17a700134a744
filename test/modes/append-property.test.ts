// Whatever happens to files, appending with reload and unload makes what replacing makes.

import { renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, sqlFile, type Pipeline } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { createChance, readCount, searched } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const nights = searched(6);

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
      total: { from: ['sale'], transform: sqlFile('total.sql'), guard: false },
    },
  });
const mirrored = { mode: 'append', changed: 'reload', gone: 'unload' };
const [appended, referenced, replaced] = [
  pipeline('appended', mirrored),
  pipeline('referenced', mirrored),
  pipeline('replaced', 'replace'),
];

/** Both tables, but for the column that only one of them has. */
const madeBy = async ({ name }: { readonly name: string }): Promise<unknown> =>
  (
    await database.query(
      `select (select json_agg(json_build_array(id, pieces) order by id) from ${name}.sale) as sales,
        (select json_agg(t order by pieces) from ${name}.total t) as totals`,
    )
  ).rows[0];

const seed = readCount('APPEND_SEED', 15);

/** Files of rows that change, leave, and move to another file; a key is in one file at a time. */
const createDirectory = ({ between, pick }: ReturnType<typeof createChance>) => {
  /** Pieces by key, of each file. */
  const there = new Map<string, Map<string, number>>([['f0', new Map()]]);
  const changed = new Set(['f0']);
  const take = (key: string): void => {
    for (const [file, rows] of there) if (rows.delete(key)) changed.add(file);
  };
  const remove = (file: string): void => {
    there.delete(file);
    changed.delete(file);
    rmSync(`${files.directory}/in/${file}.csv`, { force: true });
  };
  const ops: readonly (() => void)[] = [
    () => {
      const [file, key] = [`f${between(0, 6)}`, `k${between(1, 12)}`];
      take(key);
      if (!there.has(file)) there.set(file, new Map());
      there.get(file)!.set(key, between(1, 3));
      changed.add(file);
    },
    () => take(`k${between(1, 12)}`),
    () => remove(pick([...there.keys()])),
    () => {
      const file = pick([...there.keys()]);
      if (changed.has(file)) return;
      const other = `g${between(1, 3)}`;
      if (there.has(other)) return;
      renameSync(`${files.directory}/in/${file}.csv`, `${files.directory}/in/${other}.csv`);
      there.set(other, there.get(file)!);
      there.delete(file);
    },
  ];
  return {
    /** Without a change on some nights. */
    night: (): void => {
      for (let count = between(0, 6); count > 0; count -= 1) pick([ops[0]!, ...ops])();
      // A directory without a file is an error.
      if (there.size === 0) ops[0]!();
      for (const file of changed) {
        const lines = [...there.get(file)!].map(([key, pieces]) => `${key},${pieces}`);
        files.write(`in/${file}.csv`, ['id,pieces', ...lines, ''].join('\n'));
      }
      changed.clear();
    },
  };
};

it(`makes the same of the same files, with seed ${seed}`, { timeout: nights * 10_000 }, async () => {
  const directory = createDirectory(createChance(seed));
  const options = {
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
    workers: 1,
  };
  for (let night = 1; night <= nights; night += 1) {
    directory.night();
    await runPipeline(replaced, options);
    for (const each of [appended, referenced]) {
      await runPipeline(each, options);
      expect(await madeBy(each), `night ${night} of ${each.name}`).toEqual(await madeBy(replaced));
    }
    // Then old rows are found by the key.
    if (night === 1)
      await database.query(
        'create table referenced.paid (sale text references referenced.sale on delete cascade)',
      );
  }
  expect(await runPipeline(appended, options)).toMatchObject({ outcome: 'unchanged' });
});
