// bindPipeline(): combines a pipeline with its parameters and directory.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { PipelineSpec, TableSpec, VariedPath } from '../core/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { confinementOf, isBelow, mark } from '../input/sources/confine.ts';
import { callTables, snapshotWaitMsDefault, tablesWith, type Pipeline } from './define-pipeline.ts';
import { freezeDeep } from './freeze.ts';
import { innerOf } from './declare/made-row.ts';
import { memberLocation } from '../input/decode/member-location.ts';

// Finds paths that depend on a parameter: the author's function makes the tables again, with a
// marked, harmless text instead of the parameter's text. What both versions of a path have in
// common was written by the author. A parameter may choose files only below that part.

type Params = Readonly<Record<string, unknown>>;

interface Variation {
  readonly text: string;
  readonly with: (text: string) => unknown;
}

const variationsOf = (value: unknown): readonly Variation[] => {
  if (typeof value === 'string') return [{ text: value, with: (text) => text }];
  if (typeof value !== 'object' || value === null) return [];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    variationsOf(inner).map((each) => ({
      text: each.text,
      with: (text: string) =>
        Array.isArray(value)
          ? value.with(Number(name), each.with(text))
          : { ...value, [name]: each.with(text) },
    })),
  );
};

const mayLead = (text: string): boolean => /^\s*\.*\s*$|[/\\%:?#@&\0]|\.[^\w/\\]*\./.test(text);

const neutral = (text: string): string => mark + text.replaceAll(/[^\w.-]/g, '_');

const pathsOf = (tables: unknown): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(
      tables as Record<string, { source?: { paths?: unknown }; transform?: { path?: unknown } }>,
    ).map(([table, { source, transform }]) => {
      const all = [[source?.paths].flat(), transform?.path ?? []].flat() as readonly unknown[];
      const paths = all.map((one) => (typeof one === 'object' ? (one as { path?: unknown }).path : one));
      return [table, paths.map((path) => (typeof path === 'string' ? memberLocation(path).location : ''))];
    }),
  );

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    // The author's function can fail with the marked text, for example if the text is a lookup key.
    return undefined;
  }
};

const variedPaths = (params: Params, make: (params: Params) => unknown): readonly VariedPath[] => {
  const variations = variationsOf(params);
  if (variations.length === 0) return [];
  const varied = variations.map(({ text, with: vary }) => ({
    text,
    paths: orUndefined(() => pathsOf(make(vary(neutral(text)) as Params))),
  }));
  return [...pathsOf(make(params))].flatMap(([table, paths]) =>
    paths.flatMap((path, index) => {
      const others = varied.flatMap(({ text, paths: withOther }) => {
        const other = withOther?.get(table)?.[index];
        if (other === path) return [];
        // If the changed path lacks the mark, the text was a lookup key, or only part of it was
        // used. Such a path counts only if the parameter's text could lead to another directory.
        return other?.includes(mark) === true || mayLead(text) ? [other ?? ''] : [];
      });
      return others.length === 0 ? [] : [{ table, path, others }];
    }),
  );
};

export interface Binding {
  /** Texts (`--param year=2011`) or values, parsed by the pipeline's `params`. */
  readonly params?: Params;
  readonly directory: string;
}

/**
 * Parses the parameters and returns the frozen specification of a run.
 *
 * @throws EtlError ETL_PARAM: a parameter is missing, unknown or not valid · ETL_SOURCE_OUTSIDE: a
 *   parameter selects a SQL file outside the directory that the author named · ETL_DEFINITION and
 *   ETL_DEFINITION_CYCLE: the tables are not valid with these parameters
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

/**
 * Refuses a parameter that leads to a SQL file outside the directory that the author named.
 * Errors: ETL_SOURCE_OUTSIDE.
 */
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

const kept = (value: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * Returns the parameters, without secrets, as JSON values that parse to the same values. Prefers
 * the given values: a schema with a transform may refuse its own output.
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
