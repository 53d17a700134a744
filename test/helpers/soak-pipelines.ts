// Ten small pipelines of a soak: files that change between runs, and what production must hold of each version. A version may
// have a tenth of the records of the one before, so their tables have no guard.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chance } from './seeded.ts';

/** What a version of the files comes to, as text where PostgreSQL gives text. */
export interface Sums {
  readonly rows: number;
  readonly sum: string;
  readonly version: number;
  readonly rejected: number;
}

export interface SoakPipeline {
  readonly name: string;
  /** Between two slots: a divisor of a minute, so that slots are the multiples of it. */
  readonly seconds: number;
  /** Replaces the files by the next version of them, and gives what they come to. */
  readonly change: () => Sums;
  /** Gives the same of what is in production. */
  readonly sql: string;
}

const seconds = [4, 5, 6, 6, 10, 10, 10, 12, 12, 15] as const;

const pipelineText = (name: string, staging: string): string => `
import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: '${name}',
  schema: '${name}',
  tables: {
    item: {
      source: csv('data/${name}/*.csv', { settle: 0 }),${staging}
      rejectLimit: 1_000,
      guard: false,
      columns: { n: column.integer('n'), version: column.integer('version'), label: column.text('label') },
      primaryKey: ['n'],
    },
  },
});
`;

/** Every so many records one is damaged. */
const recordsPerReject = 50;

const writeVersion = (directory: string, version: number, files: number, records: number): Sums => {
  let [rows, sum, rejected] = [0, 0, 0];
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (let file = 0; file < files; file += 1) {
    const lines = ['n,version,label'];
    for (let n = file * records; n < (file + 1) * records; n += 1) {
      const isDamaged = n % recordsPerReject === recordsPerReject - 1;
      lines.push(`${isDamaged ? 'none' : n * version},${version},"item ${n}, of ${version}"`);
      if (isDamaged) rejected += 1;
      else [rows, sum] = [rows + 1, sum + n * version];
    }
    writeFileSync(join(directory, `${file}.csv`), `${lines.join('\n')}\n`);
  }
  return { rows, sum: String(sum), version, rejected };
};

/** Writes the pipelines into the folder `pipelines` of a directory, and the first version of the files of each. */
export const writePipelines = (directory: string, chance: Chance): readonly SoakPipeline[] => {
  mkdirSync(join(directory, 'pipelines'));
  return seconds.map((each, place) => {
    const name = `p${place}`;
    const isDirect = place % 3 === 2;
    const text = pipelineText(name, isDirect ? "\n      staging: 'none'," : '');
    writeFileSync(join(directory, 'pipelines', `${name}.ts`), text);
    let version = 0;
    const change = (): Sums => {
      version += 1;
      return writeVersion(
        join(directory, 'data', name),
        version,
        chance.between(1, 3),
        chance.between(20, 400),
      );
    };
    return {
      name,
      seconds: each,
      change,
      sql: `select count(*)::int as rows, sum(n)::text as sum, min(version) as version,
          (select count(*)::int from etl.reject where run_id = (select max(id) from etl.run where pipeline = '${name}'))
            as rejected
        from ${name}.item having min(version) = max(version)`,
    };
  });
};
