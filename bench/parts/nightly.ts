// A night: records put to four times as many that are there, against the best scripts for it.
//
// By default the table has a key of UUIDs and no order to speak of, which is the worst for an index. What is there is made again before
// each turn.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { measured } from '../measure.ts';
import { loadBase, nightShape, ours, remake, runNight, stage, staged, theirs } from '../nights.ts';
import type { Session } from '../psql.ts';
import { resetScripts, tuned } from '../sides.ts';

export const nightlySides = {
  straight: 'psql, straight into the table',
  staged: 'psql, unlogged, then INSERT … SELECT',
  sorted: 'psql, unlogged, then INSERT … SELECT in the order of the key',
  etl: "etl, publish: 'append', 2 workers",
} as const;

export const measureNightly = async (bench: Bench): Promise<PartReport> => {
  const { server, sessions, records, rounds } = bench;
  const shape = nightShape(bench.table);
  const { script, files: kind } = shape;
  const { key } = shape.night;
  const { directory, files } = await bench.dataset(records * 5, 5, kind);
  const { path } = files.at(-1)!;
  await loadBase(bench, 'append', directory, `00[1-4]${kind.nameEnd}`);

  const insert = `insert into ${theirs} select * from ${staged}`;
  const scriptSide = (name: string, session: Session): Side => ({
    name,
    records,
    run: () => measured(server.pid, () => sessions.run([[session]])),
    results: { rows: `select * from ${theirs}` },
    reset: `${resetScripts}; ${remake(theirs, key)}`,
    leave: resetScripts,
    vacuumed: theirs,
  });
  const sides: readonly Side[] = [
    scriptSide(nightlySides.straight, [...tuned, { copy: theirs, options: script.copy, file: path }]),
    scriptSide(nightlySides.staged, [...stage(shape, path), { sql: insert }]),
    scriptSide(nightlySides.sorted, [...stage(shape, path), { sql: `${insert} order by ${key.join(', ')}` }]),
    {
      name: nightlySides.etl,
      records,
      run: () => runNight(bench, 'append', directory, `*${kind.nameEnd}`),
      results: { rows: `select * from ${ours}` },
      reset: `${remake(ours, key)}; delete from etl.published_file where name like '%005${kind.nameEnd}'`,
      leave: `truncate ${ours}`,
      vacuumed: ours,
    },
  ];
  return {
    part: 'nightly',
    title: `A night of ${shape.name} put to four times as many`,
    sides: await compare(server, sides, rounds),
  };
};
