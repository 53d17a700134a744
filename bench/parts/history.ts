// A night of versions: records for a fifth of the rows of a table that keeps every version, half of them as they were, against the best
// scripts for it ("slowly changing dimension, type 2": end the versions that changed, insert the new ones).

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { byName, changedFiles, changingSides, loadBase, nightShape, staged, theirs } from '../nights.ts';
import type { Night } from '../shapes/contract.ts';
import { scriptSchema } from '../sql.ts';

const historySides = {
  scripts: {
    update: 'psql, UPDATE of versions that end, INSERT of those that begin',
    sorted: 'psql, the same, inserted in the order of the key',
    found: 'psql, what differs by a parallel join first, then both by it',
  },
  etl: "etl, publish: 'history', 2 workers",
} as const;

type Scripts = Readonly<Record<keyof typeof historySides.scripts, readonly string[]>>;

const scriptsOf = ({ key, others }: Night): Scripts => {
  const columns = [...key, ...others];
  const list = (alias: string, names: readonly string[]): string =>
    names.map((name) => `${alias}.${name}`).join(', ');
  const same = `${key.map((name) => `o.${name} = n.${name}`).join(' and ')} and o.valid_to is null`;
  const differs = `(${list('o', others)}) is distinct from (${list('n', others)})`;
  const insert = `insert into ${theirs} (${columns.join(', ')}, valid_from) select ${list('n', columns)}, now()`;
  const order = `order by ${list('n', key)}`;
  const found = `${scriptSchema}.found`;
  const update = (last: string): readonly string[] => [
    'begin',
    `update ${theirs} o set valid_to = now() from ${staged} n where ${same} and ${differs}`,
    `${insert} from ${staged} n where not exists (select from ${theirs} o where ${same}) ${last}`,
    'commit',
  ];
  return {
    update: update(''),
    sorted: update(order),
    found: [
      `create unlogged table ${found} as select n.*, o.ctid as place from ${staged} n left join ${theirs} o on ${same}
        where o.${key[0]} is null or ${differs}`,
      `analyze ${found}`,
      'begin',
      `update ${theirs} o set valid_to = now() from ${found} n where o.ctid = n.place`,
      `${insert} from ${found} n ${order}`,
      'commit',
    ],
  };
};

export const measureHistory = async (bench: Bench): Promise<PartReport> => {
  const { server, records, rounds } = bench;
  const shape = nightShape(bench.night);
  const { key, others } = shape.night;
  const scripts = scriptsOf(shape.night);
  const there = await bench.dataset(records * 5, 5, shape.files);
  const nameEnd = 'history.csv';
  const night = await changedFiles(bench, shape, nameEnd, records, 0.5);
  await loadBase(bench, 'history', there.directory, `*${shape.files.nameEnd}`);
  const sides = await changingSides(bench, {
    shape,
    publish: 'history',
    night,
    records,
    nameEnd,
    key: [...key, 'valid_from'],
    // Each turn has a time of its own.
    rowsOf: (table) =>
      `select ${[...key, ...others].join(', ')}, valid_to is null as is_current from ${table}`,
    scripts: byName(historySides.scripts, scripts),
    fastest: [historySides.scripts.update, historySides.scripts.found],
    etl: historySides.etl,
  });
  return {
    part: 'history',
    title: `${shape.name}: versions, a fifth of the table comes, half of it differs`,
    sides: await compare(server, sides, rounds),
  };
};
