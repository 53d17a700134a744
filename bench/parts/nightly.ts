// A night: records put to five times as many that are there, against the best scripts for it.
//
// By default the table has a key of UUIDs and no order to speak of, which is the worst for an index. What is there is made again before
// each turn.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { makeBinaryRows } from '../floors.ts';
import {
  binaryScript,
  floorOf,
  loadBase,
  nightScriptSide,
  nightShape,
  ours,
  remake,
  runNight,
  staged,
  stagedScript,
  theirs,
} from '../nights.ts';
import { tuned, type Stages } from '../sides.ts';

export const nightlySides = {
  straight: 'psql, straight into the table',
  staged: 'psql, unlogged, then INSERT … SELECT',
  sorted: 'psql, unlogged, then INSERT … SELECT in the order of the key',
  etl: "etl, publish: 'append', 2 workers",
} as const;

export const measureNightly = async (bench: Bench): Promise<PartReport> => {
  const { server, records, rounds } = bench;
  const shape = nightShape(bench.night);
  const {
    script: { copy },
    files: kind,
  } = shape;
  const { key } = shape.night;
  const { directory, files } = await bench.dataset(records * 6, 6, kind);
  const { path } = files.at(-1)!;
  await loadBase(bench, 'append', directory, `00[1-5]${kind.nameEnd}`);

  const table = { records, key };
  const script = (name: string, stages: Stages): Side => nightScriptSide(bench, name, table, stages);
  const insert = `insert into ${theirs} select * from ${staged}`;
  const sorted = [`${insert} order by ${key.join(', ')}`];
  const floors = async (): Promise<readonly Side[]> => {
    const binary = await makeBinaryRows(bench, shape.script, { directory, files: files.slice(-1) });
    return [script(floorOf(nightlySides.sorted), binaryScript(binary, sorted))];
  };
  const sides: readonly Side[] = [
    script(nightlySides.straight, [[[...tuned, { copy: theirs, options: copy, file: path }]]]),
    script(nightlySides.staged, stagedScript(shape, path, [insert])),
    script(nightlySides.sorted, stagedScript(shape, path, sorted)),
    {
      name: nightlySides.etl,
      records,
      run: () => runNight(bench, 'append', directory, `*${kind.nameEnd}`),
      results: { rows: `select * from ${ours}` },
      reset: `${remake(ours, key)}; delete from etl.published_file where name like '%006${kind.nameEnd}'`,
      leave: `truncate ${ours}`,
      vacuumed: ours,
    },
    ...(bench.floors ? await floors() : []),
  ];
  return {
    part: 'nightly',
    title: `A night of ${shape.name} put to five times as many`,
    sides: await compare(server, sides, rounds),
  };
};
