// A pipeline bound to parameters, with the texts of its SQL files and the hashes that identify it.

import type { PipelineSpec, RecordedFormats } from '../core/declaration.ts';
import type { TestSpec } from '../core/data-test.ts';
import { hookNames, type HookName, type SqlFile } from '../core/hook.ts';
import { isOfPath } from '../format/rows/header-check.ts';
import { bindPipeline, type Binding } from './bind.ts';
import type { Pipeline } from './define-pipeline.ts';
import { definitionHash, stagedHashes, tableHashes } from './hash.ts';
import { readSqlFile, type SqlText } from '../db/sql-file.ts';

interface DefinitionHashes {
  readonly definition: string;
  readonly tables: Readonly<Record<string, string>>;
  readonly staged: Readonly<Record<string, string>>;
}

/** Returns the dialects and fields of each table, to show rejects without the pipeline. */
export const recordedFormats = ({ tables }: PipelineSpec): Readonly<Record<string, RecordedFormats>> =>
  Object.fromEntries(
    tables.flatMap((table) => {
      if (table.kind !== 'source') return [];
      const columns = Object.fromEntries(
        table.columns.map(({ name, headers }) => [name, headers.filter((ref) => !isOfPath(ref))]),
      );
      const dialects = table.readings.map(({ format }) => format.dialect);
      return [[table.name, { dialects, columns }]];
    }),
  );

export interface Definition {
  readonly spec: PipelineSpec;
  readonly sqlTexts: ReadonlyMap<string, SqlText>;
  readonly hookTexts: ReadonlyMap<HookName, SqlText>;
  readonly testTexts: ReadonlyMap<TestSpec, SqlText>;
  readonly hashes: DefinitionHashes;
}

/** The file that each thread imports itself, because functions cannot be sent to threads. */
export interface PipelineFile {
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The main thread's definition hash, with which a thread checks that the file did not change. */
  readonly definition: string;
}

const readSqlFiles = async (spec: PipelineSpec): Promise<ReadonlyMap<string, SqlText>> => {
  const texts = new Map<string, SqlText>();
  for (const { name, transform } of spec.tables)
    if (transform !== undefined) texts.set(name, await readSqlFile(name, transform, spec.directory));
  return texts;
};

const readHookFiles = async (spec: PipelineSpec): Promise<ReadonlyMap<HookName, SqlText>> => {
  const texts = new Map<HookName, SqlText>();
  for (const name of hookNames) {
    const hook = spec.hooks?.[name];
    if (typeof hook === 'object') texts.set(name, await readSqlFile(`(hook ${name})`, hook, spec.directory));
  }
  return texts;
};

const readTestFiles = async ({
  tables,
  directory,
}: PipelineSpec): Promise<ReadonlyMap<TestSpec, SqlText>> => {
  const texts = new Map<TestSpec, SqlText>();
  for (const { name, tests = [] } of tables)
    for (const test of tests) {
      const file = test.of['file'] as SqlFile | undefined;
      if (file !== undefined) texts.set(test, await readSqlFile(name, file, directory));
    }
  return texts;
};

/** Binds the pipeline and reads its SQL files. Errors: those of bindPipeline and readSqlFile. */
export const readDefinition = async (pipeline: Pipeline, binding: Binding): Promise<Definition> => {
  const spec = bindPipeline(pipeline, binding);
  const sqlTexts = await readSqlFiles(spec);
  const texts = new Map([...sqlTexts].map(([table, { text }]) => [table, text]));
  const hashes = {
    definition: definitionHash(spec, texts),
    tables: tableHashes(spec, texts),
    staged: stagedHashes(spec),
  };
  const [hookTexts, testTexts] = [await readHookFiles(spec), await readTestFiles(spec)];
  return { spec, sqlTexts, hookTexts, testTexts, hashes };
};
