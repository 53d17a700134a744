// Types that only the server reads, in a file without wrong texts and in one with 1 %: as such, with rules that find wrong texts
// before they are sent, and as texts, which is the least that a reader of our own could take.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import { batchesOf, type FileKind } from '../generate.ts';
import { between, pick, randomFrom, skewed, twoDigits, uuid, type Random } from '../random.ts';
import { dropSchemas } from '../sides.ts';

const types = `${dropSchemas('bench_types')}; create schema bench_types;
  create type bench_types.state as enum ('open', 'paid', 'sent', 'back')`;

const good: readonly ((random: Random) => string)[] = [
  (random) => pick(random, ['open', 'paid', 'sent', 'back']),
  (random) =>
    `${between(random, 0, 30)}:${twoDigits(between(random, 0, 59))}:${twoDigits(between(random, 0, 59))}`,
  (random) => `10.${between(random, 0, 255)}.${between(random, 0, 255)}.${between(random, 1, 254)}`,
  (random) =>
    `"{${Array.from({ length: skewed(random, 0, 6) }, () => between(random, 1, 90_000)).join(',')}}"`,
  (random) => `\\x${uuid(random).replaceAll('-', '')}`,
];
/** Of the first four. */
const bad = ['opened', 'soon', '10.0.0.256', '"{1,x}"'];

const filesOf = (share: number): FileKind => ({
  nameEnd: `-${share}-served.csv`,
  headerLine: 'id,key,state,took,address,tags,hash\n',
  lines: (seed) => {
    const random = randomFrom(seed);
    let id = 0;
    return batchesOf(() => {
      id += 1;
      const wrong = random() * 100 < share ? id % bad.length : undefined;
      const fields = good.map((make, place) => (place === wrong ? bad[place] : make(random)));
      return `${id},${uuid(random)},${fields.join(',')}\n`;
    });
  },
});

const sideOf = async (bench: Bench, as: string, share: number): Promise<Side> => {
  const { directory, records } = await bench.dataset(bench.records, 1, filesOf(share));
  const job = { pipeline: pipelinePath('served.ts'), params: { as }, workers: 1, directory };
  return {
    name: `${as}, ${share} % wrong`,
    records,
    run: async () => (await runEtl(bench.server, job)).load,
    results: {},
    reset: `${dropSchemas('bench_served', 'etl')}; ${types}`,
  };
};

export const measureServed = async (bench: Bench): Promise<PartReport> => {
  const sides: Side[] = [];
  for (const share of [0, 1])
    for (const as of ['served', 'labels', 'patterns', 'texts']) sides.push(await sideOf(bench, as, share));
  return {
    part: 'served',
    title: 'Load stage, one file, types that only the server reads',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
