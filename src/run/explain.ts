// What a run would do with each table, without a server and without doing it.

import { resolve } from 'node:path';
import type { SourceTableSpec, TableSpec } from '../declaration.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { readDefinition } from './definition.ts';
import type { RunOptions } from './options.ts';
import { planSources, type PlannedTable } from './plan.ts';
import { chooseDecoder } from './table-load.ts';

/** One table as a run would make it. */
export interface TablePlan {
  readonly table: string;
  readonly schema: string;
  readonly kind: 'source' | 'derived';
  /** What it is made from, the way there, and why that way: label and text, in the order of a byte. */
  readonly steps: readonly { readonly step: string; readonly text: string }[];
}

const fileStep = ({ files }: PlannedTable): string => {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const names = files.map(({ name }) => name);
  const shown = names.length > 3 ? [names[0], '…', names.at(-1)] : names;
  return `${files.length}, ${bytes.toLocaleString('en-US')} bytes: ${shown.join(' ')}`;
};

const rowsFrom = ({ staging, transform }: SourceTableSpec): string =>
  transform?.path ?? (staging === 'none' ? 'as they are loaded' : 'from staging');

const sourceSteps = (planned: PlannedTable): TablePlan['steps'] => {
  const { table } = planned;
  const { decoder, why } = chooseDecoder(table);
  const columns = `${planned.staging.length} columns`;
  const stagings = {
    typed: `unlogged, ${columns}`,
    text: `unlogged, ${columns} of text`,
    none: `none: ${columns} straight into the new table`,
  };
  return [
    { step: 'files', text: fileStep(planned) },
    { step: 'decoder', text: `${decoder}, because ${why}` },
    { step: 'staging', text: stagings[table.staging] },
    { step: 'rows', text: rowsFrom(table) },
  ];
};

const indexStep = ({ primaryKey, indexes }: TableSpec): string => {
  const key = primaryKey.length === 0 ? [] : [`primary key (${primaryKey.join(', ')})`];
  const others = indexes.map(({ using, columns }) => `${using} (${columns.join(', ')})`);
  return [...key, ...others].join(', ') || 'none';
};

/** Explains every table of a pipeline, in declared order. Reads the first bytes of each file. */
export const explainRun = async (
  pipeline: Pipeline,
  { params = {}, directory = '.', workingDirectory = '.' }: RunOptions,
): Promise<readonly TablePlan[]> => {
  const { spec } = await readDefinition(pipeline, { params, directory: resolve(directory) });
  const planned = await planSources(spec, resolve(workingDirectory));
  return spec.tables.map((table) => {
    const { name, kind, publish } = table;
    const source = planned.find((one) => one.table === table);
    const steps =
      table.kind === 'source'
        ? sourceSteps(source!)
        : [{ step: 'rows', text: `${table.transform.path}, from ${table.from.join(', ')}` }];
    const last = [
      { step: 'indexes', text: indexStep(table) },
      { step: 'publish', text: publish },
    ];
    return { table: name, schema: spec.schema, kind, steps: [...steps, ...last] };
  });
};
