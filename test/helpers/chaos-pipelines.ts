// Three pipelines of a chaos test: files that are replaced as a whole, and what production must hold of each version.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectedOf, type Expected } from './chaos-oracle.ts';
import type { Chance } from './seeded.ts';

export interface ChaosPipeline {
  /** Of the pipeline, and of its schema. */
  readonly name: string;
  readonly tables: readonly string[];
  /** Replaces all files at once by the next version of them, and returns its number. */
  readonly change: () => number;
  /** The newest version. */
  readonly version: () => number;
  /** What production holds when it holds this version. */
  readonly expected: (version: number) => Expected;
  /** Changes the objects that depend on production; run once after the first publication. */
  readonly dependents: string;
}

interface Shape {
  readonly name: string;
  /** Tables with files, and the options of each. */
  readonly sources: Readonly<Record<string, string>>;
  /** Rows are grouped by SQL into a third table. */
  readonly derivedFrom?: string;
  readonly dependents?: string;
}

const shapes: readonly Shape[] = [
  // Tables are swapped, one of them made by SQL.
  { name: 'shop', sources: { customer: '', sale: "indexes: [index('version')]," }, derivedFrom: 'sale' },
  // One table is loaded without staging.
  { name: 'meter', sources: { site: '', reading: "staging: 'none'," } },
  // A view keeps both tables where they are: rows are replaced in place.
  {
    name: 'stock',
    sources: { item: '', move: '' },
    dependents:
      'create view stock.both as select id, version from stock.item union all select id, version from stock.move',
  },
];

const sourceText = (pipeline: string, [table, options]: readonly [string, string]): string => `
    ${table}: {
      source: csv('data/${pipeline}/now/${table}-*.csv', { settle: 0 }),
      columns: {
        id: column.integer('id'),
        version: column.integer('version'),
        amount: column.numeric('amount', { precision: 12, scale: 2 }),
        label: column.text('label'),
      },
      primaryKey: ['id'],
      filter: present('id'),
      rejectLimit: 10_000,
      guard: { shrinkMax: '60%' },
      ${options}
    },`;

const pipelineText = ({ name, sources, derivedFrom }: Shape): string => `
import { column, csv, definePipeline, index, present, sqlFile } from 'sluice';

void index, sqlFile;
export default definePipeline({
  name: '${name}',
  schema: '${name}',
  tables: {${Object.entries(sources)
    .map((source) => sourceText(name, source))
    .join('')}
    ${derivedFrom === undefined ? '' : `daily: { from: ['${derivedFrom}'], transform: sqlFile('daily.sql'), primaryKey: ['id'] },`}
  },
});
`;

const dailySql = `
select id % 30 as id, min(version) as version, sum(amount) as amount, count(*)::text as label from sale group by 1
`;

/** Records of a file: quotes, line ends within fields, some that are refused and some that are filtered. */
const fileText = (file: number, records: number, version: number): string => {
  const lines = ['id,version,amount,label'];
  for (let n = 0; n < records; n += 1) {
    let id = String(file * 1_000_000 + n);
    if (n % 97 === 96) id = 'none';
    if (n % 89 === 88) id = '';
    const amount = `${(n * 7 + version) % 1000}.${String(n % 100).padStart(2, '0')}`;
    const label = n % 5 === 0 ? `"item ${n}, ""new""\nof ${version}"` : `item ${n} of ${version}`;
    lines.push(`${id},${version},${amount},${label}`);
  }
  return `${lines.join('\n')}\n`;
};

/** Writes the pipelines into the folder `pipelines` of a directory; files are there after the first change. */
export const writeChaosPipelines = (directory: string, chance: Chance): readonly ChaosPipeline[] => {
  mkdirSync(join(directory, 'pipelines'));
  writeFileSync(join(directory, 'pipelines/daily.sql'), dailySql);
  return shapes.map((shape) => {
    const { name, sources, derivedFrom, dependents = '' } = shape;
    writeFileSync(join(directory, `pipelines/${name}.ts`), pipelineText(shape));
    const data = join(directory, 'data', name);
    const expectations = new Map<number, Expected>();
    let version = 0;
    const change = (): number => {
      const next = version + 1;
      const place = join(data, String(next));
      mkdirSync(place, { recursive: true });
      for (const table of Object.keys(sources)) {
        const files = chance.between(2, 3);
        for (let file = 0; file < files; file += 1)
          writeFileSync(
            join(place, `${table}-${file}.csv`),
            fileText(file, chance.between(5_000, 7_000), next),
          );
      }
      expectations.set(next, expectedOf(place, Object.keys(sources), derivedFrom));
      // A link is replaced in one step: no run sees half of a version, unless it lists files twice.
      symlinkSync(String(next), join(data, 'next'));
      renameSync(join(data, 'next'), join(data, 'now'));
      return (version = next);
    };
    return {
      name,
      tables: [...Object.keys(sources), ...(derivedFrom === undefined ? [] : ['daily'])],
      change,
      version: () => version,
      expected: (which) => expectations.get(which)!,
      dependents,
    };
  });
};
