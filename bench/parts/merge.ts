// Nights of records that are there already, most of them as they come or most of them changed, against the best scripts for them.
//
// A tenth of the records that differ have new keys. What is there is made again before each turn.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { byName, changedFiles, changingSides, loadBase, nightShape, staged, theirs } from '../nights.ts';
import type { Night } from '../shapes/contract.ts';
import { scriptSchema } from '../sql.ts';

/** What a night brings: records for a share of those that are there, and the share of them that differ. */
interface Part {
  readonly part: string;
  readonly title: string;
  readonly of: number;
  readonly differing: number;
}

const nights: readonly Part[] = [
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

type Scripts = Readonly<Record<keyof typeof mergeSides.scripts, readonly string[]>>;

const scriptsOf = ({ key, others }: Night): Scripts => {
  const values = (alias: string): string => others.map((name) => `${alias}.${name}`).join(', ');
  const set = (alias: string): string => others.map((name) => `${name} = ${alias}.${name}`).join(', ');
  const differs = (alias: string): string => `(${values('o')}) is distinct from (${values(alias)})`;
  const same = key.map((name) => `o.${name} = n.${name}`).join(' and ');
  const keys = key.join(', ');
  const upsert = (order: string): string =>
    `insert into ${theirs} as o select * from ${staged} ${order}
      on conflict (${keys}) do update set ${set('excluded')} where ${differs('excluded')}`;
  return {
    upsert: [upsert('')],
    sorted: [upsert(`order by ${keys}`)],
    merge: [
      `merge into ${theirs} o using ${staged} n on ${same}
        when matched and ${differs('n')} then update set ${set('n')}
        when not matched then insert (${[...key, ...others].join(', ')})
          values (${key.map((name) => `n.${name}`).join(', ')}, ${values('n')})`,
    ],
    update: [
      'begin',
      `update ${theirs} o set ${set('n')} from ${staged} n where ${same} and ${differs('n')}`,
      `insert into ${theirs} select * from ${staged} n where not exists (select from ${theirs} o where ${same})`,
      'commit',
    ],
    exchange: [
      'begin',
      `delete from ${theirs} o using ${staged} n where ${same}`,
      `insert into ${theirs} select * from ${staged}`,
      'commit',
    ],
    rebuild: [
      'begin',
      `create table ${scriptSchema}.new as select * from ${staged}
        union all select o.* from ${theirs} o where not exists (select from ${staged} n where ${same})`,
      `alter table ${scriptSchema}.new add primary key (${keys})`,
      `analyze ${scriptSchema}.new`,
      `drop table ${theirs}`,
      `alter table ${scriptSchema}.new rename to night`,
      'commit',
    ],
  };
};

const measureNight = async (bench: Bench, { part, title, of, differing }: Part): Promise<PartReport> => {
  const shape = nightShape(bench.night);
  const { key } = shape.night;
  const scripts = scriptsOf(shape.night);
  const there = await bench.dataset(bench.records * 5, 5, shape.files);
  const records = Math.round(there.records * of);
  const nameEnd = `${part}.csv`;
  const night = await changedFiles(bench, shape, nameEnd, records, differing);
  await loadBase(bench, 'merge', there.directory, `*${shape.files.nameEnd}`);
  const sides = await changingSides(bench, {
    shape,
    publish: 'merge',
    night,
    records,
    nameEnd,
    key,
    rowsOf: (table) => `select * from ${table}`,
    scripts: byName(mergeSides.scripts, scripts),
    fastest: [mergeSides.scripts.sorted, mergeSides.scripts.merge, mergeSides.scripts.rebuild],
    etl: mergeSides.etl,
  });
  return {
    part,
    title: `${shape.name}: ${title}`,
    sides: await compare(bench.server, sides, bench.rounds),
  };
};

/** Parts by their names. */
export const mergeParts: Readonly<Record<string, (bench: Bench) => Promise<PartReport>>> = Object.fromEntries(
  nights.map((night) => [night.part, (bench: Bench) => measureNight(bench, night)]),
);
