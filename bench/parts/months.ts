// One month of sixty is replaced, against loading that month alone into a table of its own.

import { linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import type { FileKind } from '../generate.ts';
import { columns, orderLines } from '../shapes/orders.ts';

export const monthsSides = {
  alone: 'etl, the month alone, 2 workers',
  touched: "etl, only: 'touched', 2 workers",
} as const;

const months = 60;
const millisecondsOfMonth = 28 * 86_400_000;

/** Orders of one month after the other, so many of each. */
const monthly = (nameEnd: string, perMonth: number, firstMonth: number): FileKind => ({
  nameEnd,
  headerLine: orderLines.headerLine,
  lines: (seed) => {
    let made = 0;
    return orderLines.lines(seed, (random) => {
      const month = firstMonth + Math.floor(made / perMonth);
      made += 1;
      return new Date(Date.UTC(2020, month, 1) + Math.floor(random() * millisecondsOfMonth));
    });
  },
});

export const measureMonths = async (bench: Bench): Promise<PartReport> => {
  const { server, rounds } = bench;
  const records = Math.ceil(bench.records / 2);
  const others = Math.ceil(bench.records / 20);
  const { directory } = await bench.dataset(
    others * (months - 1),
    months - 1,
    monthly('months.csv', others, 0),
  );
  const { files } = await bench.dataset(records, 1, monthly('month.csv', records, months - 1));
  const last = join(directory, 'last-months.csv');
  rmSync(last, { force: true });
  linkSync(files[0]!.path, last);
  await runEtl(server, { pipeline: pipelinePath('months.ts'), workers: 2, directory });

  const rowsOf = (schema: string): string =>
    `select ${Object.keys(columns).join(', ')} from ${schema}.orders where created_at >= '2024-12-01'`;
  const sides: readonly Side[] = [
    {
      name: monthsSides.alone,
      records,
      run: async () =>
        (await runEtl(server, { pipeline: pipelinePath('month.ts'), workers: 2, directory })).whole,
      results: { month: rowsOf('bench_month') },
      reset: 'drop schema if exists bench_month cascade',
    },
    {
      name: monthsSides.touched,
      records,
      run: async () =>
        (await runEtl(server, { pipeline: pipelinePath('months.ts'), workers: 2, directory, isWhole: false }))
          .whole,
      results: { month: rowsOf('bench_months') },
      reset: `update etl.published_file set fingerprint = 'another' where name like '%last-months.csv'`,
      vacuumed: 'bench_months.orders',
    },
  ];
  return {
    part: 'months',
    title: 'One month of sixty is replaced',
    sides: await compare(server, sides, rounds),
  };
};
