// bindPipeline(): combines a pipeline with its parameters and directory to the specification of a
// run.

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
  /**
   * Parameters by name: texts (`--param year=2011`) or values. The pipeline's `params` parses them.
   */
  readonly params?: Params;
  /** Directory of the pipeline file. Paths of SQL files are relative to it. */
  readonly directory: string;
}

/**
 * Parses the parameters and returns the frozen specification of a run.
 *
 * @throws EtlError ETL_PARAM for the first parameter that is missing, unknown or not valid ·
 *   ETL_SOURCE_OUTSIDE if a parameter selects a SQL file outside the directory that the author
 *   named · ETL_DEFINITION and ETL_DEFINITION_CYCLE if the tables are not valid with these
 *   parameters
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

/** Refuses a parameter that leads to a SQL file elsewhere. Errors: ETL_SOURCE_OUTSIDE. */
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

/** True for a schema with `.meta({ secret: true })`, also inside `.optional()` and similar. */
const isSecret = (schema: z.ZodType): boolean => {
  const inner = innerOf(schema);
  return schema.meta()?.['secret'] === true || (inner !== undefined && isSecret(inner));
};

const schemaOf = ({ params }: Pipeline, name: string): z.ZodType | undefined => params?.shape[name];

/** Stored in the ledger in place of a secret parameter. */
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

/** Returns the value after a round trip through JSON, or undefined if JSON cannot express it. */
const kept = (value: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * Returns the parameters, without secrets, in a form that JSON can store and that parses to the
 * same values. Prefers the given form, because a schema with a transform may refuse its own output.
 */
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
