// `etl types [pipeline...]`: writes the TypeScript types of production tables.

import { resolve } from 'node:path';
import type { PipelineSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { command } from '../command.ts';
import {
  choice,
  databaseUrl,
  debug,
  params,
  pipelineArguments,
  standardOutput,
  textFlag,
  toggle,
} from '../inputs.ts';
import type { Io } from '../io.ts';
import { loadPipeline, pipelinesFolder } from '../pipeline.ts';
import { askAnyway } from '../server.ts';
import { typeForms } from '../../tools/types/forms.ts';

/** Loads the named pipelines, or all of the folder, of which no file may be broken. */
const loadAll = async (named: readonly string[], io: Io) => {
  if (named.length > 0) return Promise.all(named.map((one) => loadPipeline(one, io)));
  const { loadCatalog } = await import('../../worker/catalog.ts');
  const { names, broken, find } = await loadCatalog(resolve(io.workingDirectory, pipelinesFolder(io)));
  if (broken.length > 0) throw broken[0]!.error;
  return names.map(find);
};

const bindAll = async (
  named: readonly string[],
  given: Readonly<Record<string, string>>,
  io: Io,
): Promise<readonly PipelineSpec[]> => {
  const { bindPipeline } = await import('../../pipeline/bind.ts');
  const loaded = await loadAll(named, io);
  return loaded.map(({ pipeline, directory }) => bindPipeline(pipeline, { params: given, directory }));
};

export const typesCommand = command({
  name: 'types',
  summary: 'write the TypeScript types of production tables',
  description:
    'Writes TypeScript for the production tables of pipelines: interfaces, or what Kysely or Drizzle need.',
  takes: {
    pipelines: pipelineArguments,
    as: choice(
      '--as <form>',
      'interfaces of rows, the interface Database of Kysely, or a schema of Drizzle; default: interfaces',
      typeForms,
    ),
    out: textFlag('--out <file>', 'file to write, - for standard output, which is the default'),
    check: toggle('--check', 'write nothing, and fail if the file of --out differs'),
    params,
    databaseUrl,
    debug,
  },
  help: `
Values have the types that the driver pg returns: bigint and numeric are strings, dates and timestamps are Date.
Reads the pipelines. Asks a server only for tables that SQL makes, tables with evolve: 'keep' and types that are not
PostgreSQL's own; these tables must have been published. Overwrites only files that it has written.
Exit codes: 0; with --check, 1 if the file differs.

Examples:
  $ etl types noaa
  $ etl types --as kysely --out src/database.ts
  $ etl types --as drizzle --out src/schema.ts
  $ etl types --as kysely --out src/database.ts --check`,
  async act(given) {
    const { io, as = 'interfaces', out = standardOutput, check } = given;
    if (check && out === standardOutput)
      throw new EtlError('ETL_USAGE', { problem: '--check needs --out', hint: 'Name the file to compare.' });
    const pipelines = await bindAll(given.pipelines, given.params, io);
    const { typedTables } = await import('../../tools/types/typed-tables.ts');
    const { checkTypes, typesText, writeTypes } = await import('../../tools/types/write-types.ts');
    const tables = await typedTables(pipelines, (work) => askAnyway(given, work));
    const text = typesText(tables, as);
    const file = resolve(io.workingDirectory, out);
    if (out === standardOutput) io.stdout.write(text);
    else if (check) await checkTypes(file, text, pipelines.map(({ name }) => name).join(', '));
    else await writeTypes(file, text);
  },
});
