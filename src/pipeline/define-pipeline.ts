// definePipeline(): checks a declaration as a whole and gives the pipeline that every door takes.

import { z } from 'zod';
import type { RejectLimit, TableSpec } from '../core/declaration/declaration.ts';
import type { HooksSpec } from '../core/declaration/hook.ts';
import type { Receiver } from '../core/declaration/notification.ts';
import { messageOf } from '../core/errors/errors.ts';
import { freezeDeep } from './freeze.ts';
import { pipelineNameProblem, schemaNameProblem } from './names.ts';
import { hooksSchema, type Hooks } from './declare/hooks.ts';
import { notifySchema } from './declare/notify.ts';
import { zodObject } from './declare/made-row.ts';
import { mustBe, Problems, strict, wholeNumber } from './problems.ts';
import type { ZodObjectOf } from './declare/schema-types.ts';
import type { RowOf, Table, Tables } from './declare/table.ts';
import { limitSchema } from './declare/share.ts';
import { tableSpecs } from './check/table-spec.ts';

/** Marks what definePipeline made; registered, so that another copy of sluice is understood too. @public in declarations of types. */
export const pipelineBrand: unique symbol = Symbol.for('sluice.pipeline') as never;
declare const tableTypes: unique symbol;
declare const paramTypes: unique symbol;

/** A declared pipeline: opaque, frozen, not yet bound to parameters and files. */
export interface Pipeline<Declared extends Tables = any, Params = any> {
  readonly kind: 'pipeline';
  readonly [pipelineBrand]: true;
  readonly [tableTypes]?: Declared;
  readonly [paramTypes]?: Params;
  readonly name: string;
  readonly schema: string;
  readonly searchPath: readonly string[];
  readonly rejectLimit?: RejectLimit | undefined;
  readonly snapshotWaitMs?: number | false | undefined;
  readonly hooks?: HooksSpec | undefined;
  readonly notify?: readonly Receiver[] | undefined;
  readonly params: z.ZodObject | undefined;
  /** As written: an object, or a function of the parameters that gives it. */
  readonly tables: unknown;
}

/** The type of one row: `Row<typeof noaa, 'observation'>`. Of a table that SQL makes it is what its `row` declares. */
export type Row<P extends Pipeline, Name extends TableName<P>> = RowOf<TablesOf<P>[Name]>;

export type TablesOf<P> = P extends { readonly [tableTypes]?: infer Declared }
  ? NonNullable<Declared>
  : never;
export type TableName<P> = keyof TablesOf<P> & string;

interface Named {
  /** Names the pipeline in commands, logs and staging tables. */
  readonly name: string;
  /** Schema of the production tables; it is created when it does not exist. */
  readonly schema: string;
  /**
   * Schemas in which SQL files, types and `where` of an index find names without a schema, after the new tables and
   * `schema`: ['public'] for extensions in that schema. Everybody who may create objects in them can change what that SQL does.
   */
  readonly searchPath?: readonly string[];
  /** Rejects that all tables together may have, beside the limit of each: a count, or a share of all records ('0.1%'). */
  readonly rejectLimit?: number | `${number}%`;
  /**
   * How long publishing waits for sessions that took their snapshot before the new tables were built, in milliseconds: they would see these
   * tables empty. Then rows of small tables are replaced in place, else the run ends with ETL_PUBLISH_SNAPSHOT. False: it does not wait, and
   * such sessions may see a table empty, or other tables as they were before. 600,000 by default.
   */
  readonly snapshotWaitMs?: number | false;
  /** SQL files or functions that are called before and after a load. None by default. */
  readonly hooks?: Hooks;
  /** Who is notified by HTTP of what becomes of its runs: `[webhook(env('HOOK'))]`. Nobody by default. */
  readonly notify?: readonly Receiver[];
}

type TablesInput<Declared> = {
  readonly [Name in keyof Declared]: Table<Declared[Name], keyof Declared & string>;
};

/**
 * One signature and no overloads, and the object only without `params`: so the compiler points at the very name that is wrong,
 * and not at the call. Proved by test/types/pipeline.ts.
 */
interface Definition<Params extends ZodObjectOf, Declared extends Tables> extends Named {
  readonly params?: Params;
  readonly tables:
    | ((params: z.output<Params>) => TablesInput<Declared> & ([Params] extends [never] ? never : unknown))
    | ([Params] extends [never] ? TablesInput<Declared> : never);
}

/**
 * Declares a pipeline: which files become which tables.
 *
 * @param definition name, schema and tables; with `params`, a z.object, `tables` is a function of the parsed
 *   parameters. Values from the command line are strings, so numbers need z.coerce.number().
 * @returns the frozen pipeline: the default export of a pipeline file, and what runPipeline takes.
 * @throws EtlError ETL_DEFINITION with every problem, naming table and column · ETL_DEFINITION_CYCLE
 */
export const definePipeline = <Declared extends Tables, Params extends ZodObjectOf = never>(
  definition: Definition<Params, Declared>,
): Pipeline<Declared, [Params] extends [never] ? Record<string, never> : z.output<Params>> => {
  const problems = new Problems();
  const { name, schema, searchPath, rejectLimit, snapshotWaitMs, hooks, notify, params, tables } =
    readDefinition(definition, problems);
  if (typeof tables === 'object') tableSpecs(tables, name, problems);
  problems.throwIfAny(name);
  const pipeline: Pipeline = {
    kind: 'pipeline',
    [pipelineBrand]: true,
    name,
    schema,
    searchPath: Object.freeze(searchPath),
    rejectLimit: rejectLimit && Object.freeze(rejectLimit),
    snapshotWaitMs,
    hooks: hooks && Object.freeze(hooks),
    notify: notify && freezeDeep(notify),
    params,
    tables: freezeDeep(tables),
  };
  return Object.freeze(pipeline);
};

/** Readers with older snapshots disturb nobody while a run waits, and most reports are over in that time. */
export const snapshotWaitMsDefault = 600_000;

/** A day. */
const snapshotWaitMsMax = 86_400_000;
const snapshotWaitText = `a number of milliseconds from 0 to ${snapshotWaitMsMax}, or false`;

const definitionSchema = strict(
  {
    name: z.string(mustBe('a name')),
    schema: z.string(mustBe('a name')),
    searchPath: z.array(z.string(mustBe('a name')), mustBe('a list of schemas')).default([]),
    rejectLimit: limitSchema('records').optional(),
    snapshotWaitMs: z
      .union(
        [wholeNumber(snapshotWaitText, 0, snapshotWaitMsMax), z.literal(false)],
        mustBe(snapshotWaitText),
      )
      .default(snapshotWaitMsDefault),
    hooks: hooksSchema.optional(),
    notify: notifySchema.optional(),
    params: zodObject.optional(),
    tables: z.custom<object>(
      (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
      mustBe('an object of tables, or with params a function that gives it'),
    ),
  },
  'an object with name, schema and tables',
);

/** Problems inside the tables are still found when something around them is wrong. */
const readDefinition = (definition: unknown, problems: Problems): z.output<typeof definitionSchema> => {
  const given = (typeof definition === 'object' && definition !== null ? definition : {}) as Record<
    string,
    unknown
  >;
  const key = given === definition ? undefined : 'definition';
  const read = problems.parse(definitionSchema, definition, key) ?? {
    name: typeof given.name === 'string' ? given.name : '(without a name)',
    schema: '',
    searchPath: [],
    snapshotWaitMs: snapshotWaitMsDefault,
    params: undefined,
    tables: given.tables as object,
  };
  if (typeof given.name === 'string') problems.add(pipelineNameProblem(given.name), 'name');
  if (typeof given.schema === 'string') problems.add(schemaNameProblem(given.schema), 'schema');
  for (const schema of read.searchPath) problems.add(schemaNameProblem(schema), 'searchPath');
  if (given.params === undefined && typeof read.tables === 'function')
    problems.add('tables is a function, but there is no params; declare params: z.object({ … })');
  return read;
};

/** The tables of a pipeline with these parameters, checked. Throws ETL_DEFINITION or ETL_DEFINITION_CYCLE. */
export const tablesWith = (
  pipeline: Pipeline,
  params: Readonly<Record<string, unknown>>,
): readonly TableSpec[] => {
  const problems = new Problems();
  const specs = tableSpecs(callTables(pipeline, params), pipeline.name, problems);
  problems.throwIfAny(pipeline.name);
  return freezeDeep(specs);
};

/** The tables as they are written, with these parameters. */
export const callTables = (pipeline: Pipeline, params: Readonly<Record<string, unknown>>): unknown => {
  if (typeof pipeline.tables !== 'function') return pipeline.tables;
  try {
    return (pipeline.tables as (given: unknown) => unknown)(params);
  } catch (cause) {
    const problems = new Problems();
    problems.add(`tables(params) failed: ${messageOf(cause)}`);
    throw problems.error(pipeline.name, { cause });
  }
};

/** Whether a value was made by definePipeline, of this copy of sluice or another. */
export const isPipeline = (value: unknown): value is Pipeline =>
  typeof value === 'object' && value !== null && (value as Partial<Pipeline>)[pipelineBrand] === true;
