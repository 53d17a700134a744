// A night: records put to four times as many that are there, against the best scripts for it.
//
// The table has a key of UUIDs and no order to speak of, which is the worst for an index. What is there is made again before each turn.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import { measured } from '../measure.ts';
import type { Session } from '../psql.ts';
import { shape } from '../shapes/orders.ts';
import { dropSchemas, resetScripts, tuned } from '../sides.ts';
import { scriptSchema } from '../sql.ts';

export const nightlySides = {
  straight: 'psql, straight into the table',
  staged: 'psql, unlogged, then INSERT … SELECT',
  sorted: 'psql, unlogged, then INSERT … SELECT in the order of the key',
  etl: "etl, publish: 'append', 2 workers",
} as const;

const pipeline = pipelinePath('nightly.ts');
const base = 'bench_base.orders';
const ours = 'bench_nightly.orders';
const theirs = `${scriptSchema}.orders`;
const staged = `${scriptSchema}.staged`;

/** The table as it was before the night. */
export const remakeOrders = (table: string): string => `drop table if exists ${table};
  create table ${table} (like ${base}); insert into ${table} select * from ${base};
  alter table ${table} add constraint orders_pkey primary key (id)`;

/** Keeps what a run has loaded. */
export const keepBase = `${dropSchemas('bench_base')}; create schema bench_base;
  create table ${base} (like ${ours}); insert into ${base} select * from ${ours}`;

export const measureNightly = async (bench: Bench): Promise<PartReport> => {
  const { server, sessions, records, rounds } = bench;
  const { directory, files } = await bench.dataset(records * 5, 5, shape.files);
  const { path: night } = files.at(-1)!;
  const { script } = shape;
  await server.query(dropSchemas('bench_nightly'));
  await runEtl(server, { pipeline, params: { files: '00[1-4]orders.csv' }, workers: 2, directory });
  await server.query(keepBase);

  const stage: Session = [
    ...tuned,
    { sql: `create unlogged table ${staged} (${script.loaded})` },
    { copy: staged, options: script.copy, file: night },
  ];
  const scriptSide = (name: string, session: Session): Side => ({
    name,
    records,
    run: () => measured(server.pid, () => sessions.run([[session]])),
    results: { rows: `select * from ${theirs}` },
    reset: `${resetScripts}; ${remakeOrders(theirs)}`,
    vacuumed: theirs,
  });
  const sides: readonly Side[] = [
    scriptSide(nightlySides.straight, [...tuned, { copy: theirs, options: script.copy, file: night }]),
    scriptSide(nightlySides.staged, [...stage, { sql: `insert into ${theirs} select * from ${staged}` }]),
    scriptSide(nightlySides.sorted, [
      ...stage,
      { sql: `insert into ${theirs} select * from ${staged} order by id` },
    ]),
    {
      name: nightlySides.etl,
      records,
      run: async () => (await runEtl(server, { pipeline, workers: 2, directory, isWhole: false })).whole,
      results: { rows: `select * from ${ours}` },
      reset: `${remakeOrders(ours)}; delete from etl.published_file where name like '%005orders.csv'`,
      vacuumed: ours,
    },
  ];
  return {
    part: 'nightly',
    title: 'A night of records put to four times as many, with a key of UUIDs',
    sides: await compare(server, sides, rounds),
  };
};
