// Nights of records that are there already, most of them as they come or most of them changed, against the best scripts for them.
//
// The table has a key of UUIDs, as in nightly.ts. A tenth of the records that differ have new keys. What is there is made again
// before each turn.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import type { FileKind } from '../generate.ts';
import { measured } from '../measure.ts';
import type { Session } from '../psql.ts';
import { randomFrom, uuid } from '../random.ts';
import { shape } from '../shapes/orders.ts';
import { dropSchemas, resetScripts, tuned } from '../sides.ts';
import { scriptSchema } from '../sql.ts';
import { keepBase, remakeOrders } from './nightly.ts';

/** What a night brings: records for one that is there, and the share of them that differ. */
interface Night {
  readonly part: string;
  readonly title: string;
  readonly of: number;
  readonly differing: number;
}

const nights: readonly Night[] = [
  { part: 'merge-few', title: 'a fifth of the table comes, 2 % of it differ', of: 0.2, differing: 0.02 },
  { part: 'merge-half', title: 'a fifth of the table comes, half of it differs', of: 0.2, differing: 0.5 },
  { part: 'merge-most', title: 'a fifth of the table comes, 90 % of it differ', of: 0.2, differing: 0.9 },
  { part: 'merge-all-few', title: 'the whole table comes, 2 % of it differ', of: 1, differing: 0.02 },
  { part: 'merge-all-most', title: 'the whole table comes, 90 % of it differ', of: 1, differing: 0.9 },
];

export const mergeSides = {
  scripts: {
    upsert: 'psql, INSERT … ON CONFLICT … WHERE … IS DISTINCT FROM',
    sorted: 'psql, the same in the order of the key',
    merge: 'psql, MERGE',
    update: 'psql, UPDATE of what differs, INSERT of the rest',
    exchange: 'psql, DELETE, INSERT',
    rebuild: 'psql, a new table, swapped',
  },
  etl: "etl, publish: 'merge', 2 workers",
} as const;

const pipeline = pipelinePath('nightly.ts');
const params = { publish: 'merge' };
const base = 'bench_base.orders';
const ours = 'bench_nightly.orders';
const theirs = `${scriptSchema}.orders`;
const staged = `${scriptSchema}.staged`;

/** The same rows in the table that a run has made: no other is built again. */
const refill = `truncate ${ours}; alter table ${ours} drop constraint orders_pkey;
  insert into ${ours} select * from ${base};
  alter table ${ours} add constraint orders_pkey primary key (id)`;

/** The records of the table's files, some of them changed. */
const changedKind = ({ part, differing }: Night): FileKind => ({
  ...shape.files,
  nameEnd: `${part}.csv`,
  lines: function* (seed) {
    const random = randomFrom(seed + 1);
    const change = (line: string): string => {
      if (random() >= differing) return line;
      return random() < 0.1
        ? `${uuid(random)}${line.slice(36)}`
        : line.replace(/,(true|false),[A-Z]{2},/, ',$1,XX,');
    };
    const source = shape.files.lines(seed);
    for (;;) yield source.next().value.map(change);
  },
});

const others = ['created_at', 'updated_at', 'customer', 'amount', 'paid', 'country', 'note'] as const;
const values = (alias: string): string => others.map((name) => `${alias}.${name}`).join(', ');
const set = (alias: string): string => others.map((name) => `${name} = ${alias}.${name}`).join(', ');
const differs = (alias: string): string => `(${values('o')}) is distinct from (${values(alias)})`;

const upsert = (order: string): string =>
  `insert into ${theirs} as o select * from ${staged} ${order}
    on conflict (id) do update set ${set('excluded')} where ${differs('excluded')}`;

const scripts: Readonly<Record<keyof typeof mergeSides.scripts, readonly string[]>> = {
  upsert: [upsert('')],
  sorted: [upsert('order by id')],
  merge: [
    `merge into ${theirs} o using ${staged} n on o.id = n.id
      when matched and ${differs('n')} then update set ${set('n')}
      when not matched then insert values (n.id, ${values('n')})`,
  ],
  update: [
    'begin',
    `update ${theirs} o set ${set('n')} from ${staged} n where o.id = n.id and ${differs('n')}`,
    `insert into ${theirs} select * from ${staged} n where not exists (select from ${theirs} o where o.id = n.id)`,
    'commit',
  ],
  exchange: [
    'begin',
    `delete from ${theirs} o using ${staged} n where o.id = n.id`,
    `insert into ${theirs} select * from ${staged}`,
    'commit',
  ],
  rebuild: [
    'begin',
    `create table ${scriptSchema}.new as select * from ${staged}
      union all select o.* from ${theirs} o where not exists (select from ${staged} n where n.id = o.id)`,
    `alter table ${scriptSchema}.new add primary key (id)`,
    `analyze ${scriptSchema}.new`,
    `drop table ${theirs}`,
    `alter table ${scriptSchema}.new rename to orders`,
    'commit',
  ],
};

const measureNight = async (bench: Bench, night: Night): Promise<PartReport> => {
  const { server, sessions, rounds } = bench;
  const there = await bench.dataset(bench.records * 5, 5, shape.files);
  const records = Math.round(there.records * night.of);
  const { directory, files } = await bench.dataset(records, 1, changedKind(night));
  const { path } = files[0]!;
  const stage: Session = [
    ...tuned,
    { sql: `create unlogged table ${staged} (${shape.script.loaded})` },
    { copy: staged, options: shape.script.copy, file: path },
    { sql: `analyze ${staged}` },
  ];
  await server.query(dropSchemas('bench_nightly'));
  await runEtl(server, { pipeline, params, workers: 2, directory: there.directory });
  await server.query(keepBase);
  const sides: readonly Side[] = [
    ...Object.entries(mergeSides.scripts).map(([script, name]): Side => {
      const statements = scripts[script as keyof typeof scripts].map((sql) => ({ sql }));
      return {
        name,
        records,
        run: () => measured(server.pid, () => sessions.run([[[...stage, ...statements]]])),
        results: { rows: `select * from ${theirs}` },
        reset: `${resetScripts}; ${remakeOrders(theirs)}`,
        vacuumed: theirs,
      };
    }),
    {
      name: mergeSides.etl,
      records,
      run: async () => {
        const file = { files: `*${night.part}.csv` };
        const job = { pipeline, params: { ...params, ...file }, workers: 2, directory, isWhole: false };
        return (await runEtl(server, job)).whole;
      },
      results: { rows: `select * from ${ours}` },
      reset: `${refill}; delete from etl.published_file where name like '%${night.part}.csv'`,
      vacuumed: ours,
    },
  ];
  return { part: night.part, title: night.title, sides: await compare(server, sides, rounds) };
};

/** Parts by their names. */
export const mergeParts: Readonly<Record<string, (bench: Bench) => Promise<PartReport>>> = Object.fromEntries(
  nights.map((night) => [night.part, (bench: Bench) => measureNight(bench, night)]),
);
