// Records that the server refuses, by their share: labels that an enum lacks and values that a domain's check refuses, in turns; in
// text staging, records with a field too few. No two refused values of the domain are the same.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import { batchesOf, type FileKind } from '../generate.ts';
import { phrase, randomFrom } from '../random.ts';
import { dropSchemas } from '../sides.ts';

type Staging = 'typed' | 'text';

/** In percent. Text staging takes long for many. */
const shares: Readonly<Record<Staging, readonly number[]>> = { typed: [0, 1, 3, 30], text: [0, 1, 3] };

const states = ['open', 'paid', 'sent', 'back'];

const types = `${dropSchemas('bench_types')}; create schema bench_types;
  create type bench_types.state as enum (${states.map((state) => `'${state}'`).join(', ')});
  create domain bench_types.code as text check (value ~ '^[A-Z]{2}[0-9]+$')`;

const filesOf = (staging: Staging, share: number): FileKind => ({
  nameEnd: `-${staging}-${share}-refused.csv`,
  headerLine: 'id,state,code,note\n',
  lines: (seed) => {
    const random = randomFrom(seed);
    let id = 0;
    return batchesOf(() => {
      id += 1;
      const isRefused = random() * 100 < share;
      const state = isRefused && id % 2 === 0 ? 'opened' : states[id % states.length];
      const code = `${isRefused && id % 2 === 1 ? 'de' : 'DE'}${id}`;
      const note = phrase(random, 6).replaceAll(/[^a-z ]/g, '');
      if (staging === 'typed') return `${id},${state},${code},${note}\n`;
      return `${id},${code}${isRefused ? '' : `,${states[id % states.length]}`},${note}\n`;
    });
  },
});

const sideOf = async (bench: Bench, staging: Staging, share: number): Promise<Side> => {
  const { server } = bench;
  const { directory, records } = await bench.dataset(bench.records, 1, filesOf(staging, share));
  const job = { pipeline: pipelinePath('refused.ts'), params: { staging }, workers: 1, directory };
  return {
    name: `${staging} staging, ${share} % refused`,
    records,
    run: async () => (await runEtl(server, job)).load,
    results: {},
    reset: `${dropSchemas('bench_refused', 'etl')}; ${types}`,
  };
};

export const measureRefused = async (bench: Bench): Promise<PartReport> => {
  const sides: Side[] = [];
  for (const staging of ['typed', 'text'] as const)
    for (const share of shares[staging]) sides.push(await sideOf(bench, staging, share));
  return {
    part: 'refused',
    title: 'Load stage, one file, by the share of records that the server refuses',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
