// Loading alone: `\copy` into text columns, against the verbatim lane, and against typed and validated columns.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { copySide, etlSide, verbatimSide } from '../sides.ts';

export const loadSides = {
  logged: '\\copy, logged',
  unlogged: '\\copy, unlogged',
  unloggedTwo: '\\copy, unlogged, two sessions',
  verbatim: 'etl verbatim, 1 worker',
  compiled: 'etl typed, 2 workers',
} as const;

export const measureLoad = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2);
  const sides = [
    copySide(bench, loadSides.logged, dataset, 'table', 'one', 'fields'),
    copySide(bench, loadSides.unlogged, dataset, 'unlogged table', 'one', 'fields'),
    verbatimSide(bench, loadSides.verbatim, dataset, 1),
    copySide(bench, loadSides.unloggedTwo, dataset, 'unlogged table', 'parallel', 'observations'),
    etlSide(bench, loadSides.compiled, dataset, 'load', 2),
  ];
  return {
    part: 'load',
    title: 'Load stage, two files: text columns by \\copy, and etl',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
