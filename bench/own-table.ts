// Any table of any pipeline as a job of the benchmark: its columns, key and indexes, with the files that are given.

import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deriveScript, headerOf, NoScript, specOf } from './derive-script.ts';
import type { OwnTable } from './bench-context.ts';
import type { TableJob } from './parts/table.ts';
import type { PsqlScript } from './shapes/contract.ts';
import type { Dialect } from '../src/core/dialect.ts';
import { loadPipelineFile } from '../src/pipeline/load-file.ts';

/** The longest header that is read. */
const beginningBytes = 1 << 18;

const beginningOf = (path: string): string => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(beginningBytes);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, beginningBytes, 0));
  } finally {
    closeSync(file);
  }
};

const measuredTable = fileURLToPath(new URL('measured-table.ts', import.meta.url));

const schema = 'bench_table';

/** Says on standard output why psql has no script for the table, if it has none. */
export const ownTable = async (
  wanted: OwnTable,
  directory: string,
): Promise<TableJob & { readonly dialect: Dialect }> => {
  const files = wanted.data.map((path) => ({ path: resolve(path) }));
  if (files.length === 0) throw new Error('--table FILE.ts DATA…: name the files');
  mkdirSync(directory, { recursive: true });
  const pipeline = join(directory, 'measured.ts');
  const given = { ...wanted, schema, data: files.map(({ path }) => path) };
  writeFileSync(
    pipeline,
    `import pipeline from ${JSON.stringify(resolve(wanted.pipeline))};
import { measuredTable } from ${JSON.stringify(measuredTable)};

export default measuredTable(pipeline, ${JSON.stringify(given)});
`,
  );
  const table = specOf((await loadPipelineFile(pipeline)).pipeline);
  const header = headerOf(table, beginningOf(files[0]!.path));
  let script: PsqlScript | undefined;
  try {
    script = deriveScript(table, header);
  } catch (error) {
    if (!(error instanceof NoScript)) throw error;
    console.log(`psql has no script for this table: ${error.message}`);
  }
  return {
    name: table.name,
    title: `${header.length} fields, ${table.columns.length} columns, ${files.length} files`,
    pipeline,
    schema,
    columns: table.columns.map(({ name }) => name),
    fields: header.length,
    directory,
    files,
    script,
    dialect: table.readings[0]!.format.dialect,
  };
};
