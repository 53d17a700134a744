// What every call of `etl` pays: its help, and a run whose files have not changed.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtlCommand } from '../etl.ts';
import { measured, runProgram } from '../measure.ts';

export const startUpSides = {
  node: 'node alone',
  help: 'etl --help',
  unchanged: 'etl run, nothing to do',
} as const;

export const measureStartUp = async (bench: Bench): Promise<PartReport> => {
  const { server } = bench;
  const { directory } = await bench.dataset(Math.min(bench.records, 10_000), 2);
  const runArguments = ['run', pipelinePath('observation.ts'), '--quiet'];
  const side = (name: string, work: () => Promise<unknown>): Side => ({
    name,
    run: () => measured(server.pid, work),
    results: {},
    reset: '',
  });
  // The first run publishes; from then on there is nothing to do.
  await runEtlCommand(runArguments, server, directory);
  const sides = [
    side(startUpSides.node, () => runProgram(process.execPath, ['--eval', '0'])),
    side(startUpSides.help, () => runEtlCommand(['--help'], server)),
    side(startUpSides.unchanged, () => runEtlCommand(runArguments, server, directory)),
  ];
  return {
    part: 'start-up',
    title: 'Start-up',
    sides: await compare(server, sides, bench.rounds),
  };
};
