// bindPipeline(): a pipeline plus its parameters and its directory is everything that one run needs to know.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { PipelineSpec, TableSpec, VariedPath } from '../core/declaration/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { confinementOf, isBelow } from '../input/sources/confine.ts';
import { callTables, snapshotWaitMsDefault, tablesWith, type Pipeline } from './define-pipeline.ts';
import { freezeDeep } from './freeze.ts';
import { innerOf } from './declare/made-row.ts';
import { variedPaths } from './varied-paths.ts';

type Params = Readonly<Record<string, unknown>>;

export interface Binding {
  /** Values by name, as texts (`--param year=2011`) or as values; read by the pipeline's own Zod object. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to: that of the pipeline file. */
  readonly directory: string;
}

/**
 * Reads the parameters and gives the frozen specification of a run.
 *
 * @throws EtlError ETL_PARAM naming the first parameter that is missing, unknown or not valid ·
 *   ETL_SOURCE_OUTSIDE when one leads to another SQL file ·
 *   ETL_DEFINITION and ETL_DEFINITION_CYCLE when the tables that these parameters give are not valid
 */
export const bindPipeline = (pipeline: Pipeline, { params = {}, directory }: Binding): PipelineSpec => {
  const values = readParams(pipeline, params);
  const tables = tablesWith(pipeline, values);
  const varied = freezeDeep(variedPaths(values, (others) => callTables(pipeline, others)));
  for (const table of tables) confineSql(table, varied, directory);
  return Object.freeze({
    name: pipeline.name,
    schema: pipeline.schema,
    searchPath: pipeline.searchPath,
    tables,
    rejectLimit: pipeline.rejectLimit,
    snapshotWaitMs: pipeline.snapshotWaitMs ?? snapshotWaitMsDefault,
    hooks: pipeline.hooks,
    notify: pipeline.notify ?? Object.freeze([]),
    params: values,
    varied,
    shownParams: withoutSecrets(pipeline, values),
    pinnedParams: pin(pipeline, params, values),
    directory,
  });
};

/** A parameter does not choose which file is executed. Errors: ETL_SOURCE_OUTSIDE. */
const confineSql = (
  { name, transform }: TableSpec,
  varied: readonly VariedPath[],
  directory: string,
): void => {
  if (transform === undefined) return;
  const base = confinementOf(
    transform.path,
    varied.find(({ table, path }) => table === name && path === transform.path)?.others,
    directory,
  );
  if (base !== undefined && !isBelow(base, resolve(directory, transform.path)))
    throw new EtlError('ETL_SOURCE_OUTSIDE', { table: name, file: transform.path, base });
};

const readParams = (pipeline: Pipeline, params: Params): Params => {
  const schema = pipeline.params ?? z.object({});
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(params)) {
    if (!known.includes(name)) throw new EtlError('ETL_PARAM', unknownParam(pipeline.name, name, known));
  }
  const parsed = schema.safeParse(params);
  if (parsed.success) return freezeDeep(parsed.data as Record<string, unknown>);
  const issue = parsed.error.issues[0]!;
  const param = issue.path.length === 0 ? known.join(', ') : issue.path.join('.');
  const missing = issue.path.length === 1 && !Object.hasOwn(params, String(issue.path[0]));
  const problem = missing ? 'is missing' : issue.message;
  const hint = `Give it as \`--param ${param}=value\`.`;
  throw new EtlError('ETL_PARAM', { pipeline: pipeline.name, param, problem, hint }, { cause: parsed.error });
};

/** `.meta({ secret: true })`, also below `.optional()`, `.default()` and the like. */
const isSecret = (schema: z.ZodType): boolean => {
  const inner = innerOf(schema);
  return schema.meta()?.['secret'] === true || (inner !== undefined && isSecret(inner));
};

const schemaOf = ({ params }: Pipeline, name: string): z.ZodType | undefined => params?.shape[name];

/** What the ledger stores instead of a secret parameter. */
const secretShown = '***';

const withoutSecrets = (pipeline: Pipeline, values: Params): Params =>
  Object.freeze(
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const schema = schemaOf(pipeline, name);
        return [name, schema !== undefined && isSecret(schema) ? secretShown : value];
      }),
    ),
  );

/** The value after a round trip through JSON; undefined when JSON cannot hold it. */
const kept = (value: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return undefined;
  }
};

/** Prefers the values as they were given: a schema that transforms may refuse its own result. */
const pin = (pipeline: Pipeline, given: Params, values: Params): Params =>
  Object.freeze(
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
        const schema = schemaOf(pipeline, name);
        if (schema === undefined || isSecret(schema)) return [];
        const makesIt = (one: unknown): boolean => {
          const again = schema.safeParse(one);
          return one !== undefined && again.success && isDeepStrictEqual(again.data, value);
        };
        const pinned = [kept(given[name]), kept(value)].find(makesIt);
        return pinned === undefined ? [] : [[name, pinned]];
      }),
    ),
  );

const unknownParam = (pipeline: string, param: string, known: readonly string[]) =>
  known.length === 0
    ? { pipeline, param, problem: 'is unknown; this pipeline has no parameters', hint: 'Leave it out.' }
    : {
        pipeline,
        param,
        problem: `is unknown${didYouMean(param, known)}`,
        hint: `Use its parameters: ${known.map((name) => `\`--param ${name}=value\``).join(', ')}.`,
      };
