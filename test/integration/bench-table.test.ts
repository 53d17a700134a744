// `npm run bench -- --table`: scripts that are derived from columns make the rows that a run makes, and a difference is an error.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDirectory, mustRun, run, type Ended } from '../helpers/package-project.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const made: string[] = [];
afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true }))));

/** Writes a pipeline with these columns and two files, and gives the arguments that measure them. */
const jobOf = async (columns: string, records: readonly string[], more = '') => {
  const directory = await makeDirectory();
  made.push(directory);
  const pipeline = join(directory, 'pipeline.ts');
  const data = [1, 2].map((half) => join(directory, `${half}.csv`));
  await writeFile(
    pipeline,
    `import { column, csv, definePipeline, index, range } from 'sluice';
    export default definePipeline({ name: 'job', schema: 'job', tables: { other: {
      source: csv('nowhere.csv'), columns: { a: column.text('a') } }, sale: {
      source: csv('nowhere/*.csv', { delimiter: ';', nulls: ['', 'NA'] }), columns: { ${columns} }, ${more} } } });`,
  );
  for (const [half, path] of data.entries())
    await writeFile(path, records.filter((_, at) => at === 0 || at % 2 === half).join('\n'));
  const json = join(directory, 'result.json');
  const args = [
    'bench/bench.ts',
    '--table',
    pipeline,
    ...data,
    '--only',
    'sale',
    '--rounds',
    '1',
    '--json',
    json,
  ];
  return { args, json };
};

const bench = (args: readonly string[], go = run): Promise<Ended> =>
  go(join(root, 'node_modules/.bin/jiti'), args, { cwd: root });

// Each case starts a server and five or more programs.
describe('a table of a pipeline', { timeout: 180_000 }, () => {
  it('is measured staged and direct, against scripts that make the same rows', async () => {
    const columns = `id: column.integer('id'), day: column.date('day', { format: 'DD.MM.YYYY' }),
      at: column.timestamp(['day', 'time'], { format: 'DD.MM.YYYYHHmm' }).nullable(),
      amount: column.numeric('amount', { precision: 12, scale: 2, decimal: ',', thousands: '.' }).nullable(),
      paid: column.boolean('paid', { true: ['ja'], false: ['nein'] }), note: column.text('note').nullable(),
      kind: column.varchar('kind', { length: 3 }).default('x')`;
    const { args, json } = await jobOf(
      columns,
      [
        'id;unused;day;time;amount;paid;note;kind',
        '1;x;31.12.2024;2359;1.234,56;ja;"a ""note""; of\ntwo lines";abc',
        '2;x;01.02.2024;0001;-0,50;nein;NA;',
        '3;;29.02.2024;;"";ja;"";é',
        '4;x;29.02.2024;1200;NA;nein;ü \\ \\N;abc',
      ],
      `primaryKey: ['id', 'day'], indexes: [index('at')], publish: { mode: 'merge' }, partitionBy: range('day', 'month')`,
    );
    const { out } = await bench([...args, '--wal', 'replica'], mustRun);
    const [{ parts, machine }] = JSON.parse(await readFile(json, 'utf8'));
    expect(machine.walLevel).toBe('replica');
    expect(parts[0]).toMatchObject({ part: 'sale', fields: 8 });
    expect(parts[0].sides.map(({ name, records }: any) => [name, records])).toEqual([
      ['psql, unlogged, then CREATE TABLE AS', 4],
      ['etl, 2 workers', 4],
      ['psql, unlogged, then two INSERT … SELECT', 4],
      ["etl, 2 workers, staging: 'none'", 4],
    ]);
    expect(out).toContain('ns a field');
  });

  it('whose script makes other rows is no result', async () => {
    // The script's pattern takes 69 for 2069.
    const { args } = await jobOf(
      `id: column.integer('id'), day: column.date('day', { format: 'DD/MM/YY' })`,
      ['id;day', '1;01/02/69', '2;01/02/70'],
    );
    const { exit, err } = await bench(args);
    expect(exit).not.toBe(0);
    expect(err).toContain('differ in their rows: 2 rows');
    expect(err).toContain('columns: day');
  });
});
