// The whole job: from two files to a typed, indexed and analysed table.
//
// psql has two scripts: the one that people write, and the best that we know, in two ways to fill the table of which the
// faster counts. Neither checks its records: the first that does not convert ends it.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { hourlyHeader } from '../hourly-files.ts';
import type { Session, SessionStep } from '../psql.ts';
import { etlSide, scriptSide, tuned } from '../sides.ts';
import {
  createTextTable,
  createTypedTable,
  scriptSchema,
  tunedCasts,
  usedHeaders,
  usualCasts,
} from '../sql.ts';

export const wholeJobSides = {
  usual: 'psql, as usual',
  bestInserts: 'psql at its best, two INSERT … SELECT',
  bestSelect: 'psql at its best, one parallel CREATE TABLE AS',
  cut: 'psql at its best, columns picked by cut(1)',
  etl: 'etl, 2 workers',
  unstaged: "etl, 2 workers, staging: 'none'",
  divided: 'etl, 2 workers, partitions by month',
} as const;

const table = `${scriptSchema}.observation`;
const results = { observations: `select * from ${table}` };

const finish: Session = [
  { sql: `create index on ${table} (wban, observed_at)` },
  { sql: `analyze ${table}` },
];

const usualSide = (bench: Bench, dataset: Dataset): Side =>
  scriptSide(
    bench,
    wholeJobSides.usual,
    dataset,
    [
      [[{ sql: createTextTable('raw', hourlyHeader, 'unlogged table') }]],
      dataset.files.map(({ path }) => [{ copy: `${scriptSchema}.raw`, file: path }]),
      [[{ sql: `create table ${table} as select ${usualCasts} from ${scriptSchema}.raw` }, ...finish]],
    ],
    results,
  );

/** Each file into a table of its own; `freeze` in the transaction that makes it spares the next reader some work. */
const frozenCopy = (
  name: string,
  headers: readonly string[],
  from: { file: string } | { program: string },
  header: string,
): readonly SessionStep[] => [
  { sql: 'begin' },
  { sql: createTextTable(name, headers, 'unlogged table') },
  { copy: `${scriptSchema}.${name}`, options: `format csv, freeze${header}`, ...from },
  { sql: 'commit' },
];

const createTyped: SessionStep = { sql: createTypedTable('table') };

const insert = (name: string): SessionStep => ({
  sql: `insert into ${table} select ${tunedCasts} from ${scriptSchema}.${name}`,
});

const bestInsertsSide = (bench: Bench, dataset: Dataset): Side =>
  scriptSide(
    bench,
    wholeJobSides.bestInserts,
    dataset,
    [
      [[createTyped]],
      dataset.files.map(({ path }, index) => [
        ...tuned,
        ...frozenCopy(`raw${index}`, hourlyHeader, { file: path }, ', header'),
        insert(`raw${index}`),
      ]),
      [[...tuned, ...finish]],
    ],
    results,
  );

const bestSelectSide = (bench: Bench, dataset: Dataset): Side => {
  const parts = dataset.files.map((_, index) => `select ${tunedCasts} from ${scriptSchema}.raw${index}`);
  return scriptSide(
    bench,
    wholeJobSides.bestSelect,
    dataset,
    [
      dataset.files.map(({ path }, index) =>
        frozenCopy(`raw${index}`, hourlyHeader, { file: path }, ', header'),
      ),
      [[...tuned, { sql: `create table ${table} as ${parts.join(' union all ')}` }, ...finish]],
    ],
    results,
  );
};

/** Only the columns that are needed get to the server. cut knows no quotes: a comma in a value would shift the rest. */
const cutSide = (bench: Bench, dataset: Dataset): Side => {
  const fields = usedHeaders.map((name) => hourlyHeader.indexOf(name) + 1).join(',');
  return scriptSide(
    bench,
    wholeJobSides.cut,
    dataset,
    [
      [[createTyped]],
      dataset.files.map(({ path }, index) => [
        ...tuned,
        ...frozenCopy(
          `raw${index}`,
          usedHeaders,
          { program: `tail -n +2 ${path} | cut -d, -f${fields}` },
          '',
        ),
        insert(`raw${index}`),
      ]),
      [[...tuned, ...finish]],
    ],
    results,
  );
};

export const measureWholeJob = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2);
  const sides = [
    usualSide(bench, dataset),
    bestInsertsSide(bench, dataset),
    bestSelectSide(bench, dataset),
    cutSide(bench, dataset),
    etlSide(bench, wholeJobSides.etl, dataset, 'whole', 2),
    etlSide(bench, wholeJobSides.unstaged, dataset, 'whole', 2, { staging: 'none' }),
    etlSide(bench, wholeJobSides.divided, dataset, 'whole', 2, { divided: 'month' }),
  ];
  return {
    part: 'whole-job',
    title: 'Whole job, two files to a typed, indexed and analysed table',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
