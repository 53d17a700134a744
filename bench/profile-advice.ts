// Whether `--profile` predicts well: what it says that `staging: 'none'` would save, and what that then saves.
//
//   npm run bench:advice [-- --records 1000000 --rounds 5]
//
// docs/operations/scale.md, "What a profile says", has what was measured.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { RunEvent, RunResult } from '../src/core/model.ts';
import { pipelinePath, shapePath } from './etl.ts';
import { generate, type FileKind } from './generate.ts';
import { hourlyFiles } from './hourly-files.ts';
import { median, runProgram } from './measure.ts';
import { withServer } from './server.ts';
import { shape as orders } from './shapes/orders.ts';

const program = fileURLToPath(new URL('../src/cli/etl.mjs', import.meta.url));

const { values } = parseArgs({
  options: { records: { type: 'string', default: '500000' }, rounds: { type: 'string', default: '3' } },
});

const cases: readonly { readonly name: string; readonly pipeline: string; readonly files: FileKind }[] = [
  { name: 'observations', pipeline: pipelinePath('observation.ts'), files: hourlyFiles },
  { name: 'orders', pipeline: shapePath('orders'), files: orders.files },
];

await withServer(async ({ url }, directory) => {
  const run = async (cwd: string, pipeline: string, staging: string): Promise<RunResult> => {
    let result: RunResult | undefined;
    const flags = [
      '--json',
      '--full-refresh',
      '--profile',
      '--workers',
      '2',
      '--param',
      `staging=${staging}`,
    ];
    await runProgram(process.execPath, [program, 'run', pipeline, ...flags], {
      cwd,
      env: { DATABASE_URL: url },
      onLine: (line) => {
        const event = JSON.parse(line) as RunEvent;
        if (event.type === 'finished') result = event.result;
      },
    });
    return result!;
  };
  for (const { name, pipeline, files } of cases) {
    const cwd = join(directory, name);
    await generate(files, cwd, Number(values.records), 2, 1);
    const rounds: { readonly staged: number; readonly direct: number; readonly predicted: number }[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const staged = await run(cwd, pipeline, 'typed');
      const direct = await run(cwd, pipeline, 'none');
      const said = staged.profile!.advice.join(' ');
      if (round === 0) console.log(`${name}: ${said}`);
      const [, predicted = '0'] = /would save about ([\d.]+) s of/.exec(said) ?? [];
      rounds.push({ staged: staged.seconds, direct: direct.seconds, predicted: Number(predicted) });
    }
    const [staged, direct, predicted] = (['staged', 'direct', 'predicted'] as const).map((key) =>
      median(rounds.map((round) => round[key])),
    ) as [number, number, number];
    console.log(
      `${name}: predicted ${predicted.toFixed(1)} s, saved ${(staged - direct).toFixed(1)} s (${staged.toFixed(2)} s, then ${direct.toFixed(2)} s)`,
    );
  }
});
