// `etl load FILE --into TABLE` beside `\copy TABLE from FILE`: the same file, the same existing table with its key, whole processes.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { scriptOf } from '../derive-script.ts';
import { runEtlCommand } from '../etl.ts';
import { measured } from '../measure.ts';
import { shape } from '../shapes/orders.ts';
import { dropSchemas } from '../sides.ts';

const table = 'bench_into.orders';

export const measureInto = async (bench: Bench): Promise<PartReport> => {
  const { server, sessions, records, rounds } = bench;
  const { directory, files } = await bench.dataset(records, 1, shape.files);
  const { path } = files[0]!;
  const { script } = scriptOf(shape);
  const common = {
    records,
    results: { rows: `select * from ${table}` },
    reset: `${dropSchemas('bench_into')}; create schema bench_into;
      create table ${table} (${script.loaded}, primary key (id)); drop schema if exists etl cascade`,
  };
  const load = (name: string, flags: readonly string[]): Side => ({
    ...common,
    name,
    run: () =>
      measured(server.pid, () => runEtlCommand(['load', path, '--into', table, ...flags], server, directory)),
  });
  const sides: readonly Side[] = [
    {
      ...common,
      name: 'psql, \\copy',
      run: () =>
        measured(server.pid, () => sessions.run([[[{ copy: table, options: script.copy, file: path }]]])),
    },
    load('etl load --append', []),
    load('etl load --replace', ['--replace']),
    load('etl load --merge', ['--merge']),
  ];
  return {
    part: 'into',
    title: 'One file into one table that exists, with a primary key of random UUIDs',
    sides: await compare(server, sides, rounds),
  };
};
