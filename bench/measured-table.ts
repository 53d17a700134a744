// One table of a pipeline as a pipeline of its own, with other files: replaced as a whole, staged or not.

import { csv, definePipeline, type Pipeline } from 'sluice';
import { params } from './shapes/contract.ts';

type CsvSource = ReturnType<typeof csv>;

interface Given {
  readonly schema: string;
  readonly table?: string;
  readonly params: Readonly<Record<string, string>>;
  readonly data: readonly string[];
}

/** What is kept of a table: nothing that depends on other tables, on what is published, or on other files. */
const kept = new Set(['columns', 'primaryKey', 'indexes', 'filter', 'missing', 'extra', 'rejectLimit']);

interface Declared {
  readonly source?: CsvSource;
}

/** The files of the table, as its source says how they are read. */
const sourceOf = ({ paths, options }: CsvSource, data: readonly string[]): CsvSource => {
  const [location, ...others] = [paths].flat() as readonly unknown[];
  if (others.some((other) => typeof other === 'object'))
    throw new Error('files of several kinds cannot be measured together');
  const own = typeof location === 'object' ? (location as object) : {};
  return csv(
    data.map((path) => ({ ...own, path })),
    options as object,
  );
};

export const measuredTable = (pipeline: Pipeline, given: Given): Pipeline => {
  const tables = (
    typeof pipeline.tables === 'function'
      ? pipeline.tables(pipeline.params?.parse(given.params))
      : pipeline.tables
  ) as Readonly<Record<string, Declared>>;
  const sources = Object.keys(tables).filter((name) => tables[name]!.source !== undefined);
  const name = sources.find((one) => given.table === undefined || one === given.table);
  if (name === undefined) throw new Error(`choose a table with --only: ${sources.join(', ')}`);
  const { source, ...declared } = tables[name]!;
  const common = Object.fromEntries(Object.entries(declared).filter(([option]) => kept.has(option)));
  return definePipeline({
    name: given.schema,
    schema: given.schema,
    searchPath: pipeline.searchPath,
    params,
    tables: ({ staging }) =>
      ({ [name]: { ...common, source: sourceOf(source!, given.data), staging } }) as never,
  });
};
