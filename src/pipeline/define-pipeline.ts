// definePipeline(): checks a whole declaration and returns the frozen pipeline.

import { z } from 'zod';
import type { RejectLimit, TableSpec } from '../core/declaration.ts';
import type { HooksSpec } from '../core/hook.ts';
import type { Receiver } from '../core/notification.ts';
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

/** Marks a pipeline. Symbol.for, so that another copy of sluice recognizes the pipeline. @public */
export const pipelineBrand: unique symbol = Symbol.for('sluice.pipeline') as never;
declare const tableTypes: unique symbol;
declare const paramTypes: unique symbol;

/** A pipeline made by definePipeline: frozen, and not yet bound to parameters. */
export interface Pipeline<Declared extends Tables = any, Params = any> {
  /** Marks a pipeline, as made by definePipeline(). */
  readonly kind: 'pipeline';
  readonly [pipelineBrand]: true;
  readonly [tableTypes]?: Declared;
  readonly [paramTypes]?: Params;
  /** Name of the pipeline in commands, logs and staging tables. */
  readonly name: string;
  /** Schema of the production tables. */
  readonly schema: string;
  /** Schemas in which the author's SQL finds unqualified names, after the pipeline's own tables. */
  readonly searchPath: readonly string[];
  /** Rejected records that a run tolerates in all tables together; undefined: no such limit. */
  readonly rejectLimit?: RejectLimit | undefined;
  /**
   * How long publishing waits for sessions with older snapshots, in milliseconds; false: not at
   * all.
   */
  readonly snapshotWaitMs?: number | false | undefined;
  /** SQL files and functions that a run calls at certain points; undefined: none. */
  readonly hooks?: HooksSpec | undefined;
  /** Receivers of notifications about the pipeline's runs; undefined: none. */
  readonly notify?: readonly Receiver[] | undefined;
  /** Zod schema of the parameters; undefined: the pipeline has none. */
  readonly params: z.ZodObject | undefined;
  /** The declared tables, unchecked: an object, or a function of the parameters that returns it. */
  readonly tables: unknown;
}

/**
 * The type of one row of a table: `Row<typeof noaa, 'observation'>`. For a table that SQL makes,
 * its `row` declares the type.
 */
export type Row<P extends Pipeline, Name extends TableName<P>> = RowOf<TablesOf<P>[Name]>;

/** The columns of each table of a pipeline, by table name. */
export type TablesOf<P> = P extends { readonly [tableTypes]?: infer Declared }
  ? NonNullable<Declared>
  : never;

/** The names of a pipeline's tables. */
export type TableName<P> = keyof TablesOf<P> & string;

interface Named {
  /**
   * Name of the pipeline in commands, logs and staging tables: lower-case letters, digits and _.
   */
  readonly name: string;
  /** Schema of the production tables: any name. It is created if it does not exist. */
  readonly schema: string;
  /**
   * Schemas in which your SQL (SQL files, types of column.of, `where` of an index) finds
   * unqualified names, after the pipeline's own tables: ['public'] for extensions in that schema.
   * Everybody who may create objects in such a schema can change what your SQL does. Default: none.
   */
  readonly searchPath?: readonly string[];
  /**
   * Number or share of rejected records that a run tolerates in all tables together, in addition to
   * the limit of each table: 100 or '0.1%'. Default: no such limit.
   */
  readonly rejectLimit?: number | `${number}%`;
  /**
   * How long publishing waits, in milliseconds, for sessions whose snapshot is older than the new
   * tables: such sessions would see these tables empty. When the time is over, the rows of small
   * tables are replaced in place; otherwise the run fails with ETL_PUBLISH_SNAPSHOT. False:
   * publishing does not wait, and such sessions may see a table empty. Default: 600,000.
   */
  readonly snapshotWaitMs?: number | false;
  /** SQL files or functions that a run calls before and after it loads. Default: none. */
  readonly hooks?: Hooks;
  /** Who is notified by HTTP of the outcome of runs: `[webhook(env('HOOK'))]`. Default: nobody. */
  readonly notify?: readonly Receiver[];
}

type TablesInput<Declared> = {
  readonly [Name in keyof Declared]: Table<Declared[Name], keyof Declared & string>;
};

/**
 * The argument of definePipeline. There are no overloads, and `tables` is an object only without
 * `params`, so that the compiler reports a wrong name where it is written and not at the call of
 * definePipeline. Proved by test/types/pipeline.ts.
 */
interface Definition<Params extends ZodObjectOf, Declared extends Tables> extends Named {
  /** Parameters of a run: `z.object({ year: z.coerce.number().int() })`. Default: none. */
  readonly params?: Params;
  /** The tables by name. With `params`, a function of the parsed parameters that returns them. */
  readonly tables:
    | ((params: z.output<Params>) => TablesInput<Declared> & ([Params] extends [never] ? never : unknown))
    | ([Params] extends [never] ? TablesInput<Declared> : never);
}

/**
 * Declares a pipeline: which files become which tables.
 *
 * ```ts
 * export default definePipeline({
 *   name: 'shop',
 *   schema: 'shop',
 *   tables: {
 *     sale: {
 *       source: csv('exports/sales-*.csv'),
 *       columns: { id: column.bigint('Id'), note: column.text('Note').nullable() },
 *       primaryKey: ['id'],
 *     },
 *   },
 * });
 * ```
 *
 * @param definition name, schema and tables. With `params`, a z.object, `tables` is a function of
 *   the parsed parameters. Parameters from the command line are strings, so numbers need
 *   z.coerce.number().
 * @returns the frozen pipeline, for the default export of a pipeline file, or for runPipeline.
 * @throws EtlError ETL_DEFINITION: lists all problems of the declaration, with table and column ·
 *   ETL_DEFINITION_CYCLE: derived tables depend on each other in a circle.
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

/** Ten minutes: most reports with old snapshots end by then, and waiting blocks nobody. */
export const snapshotWaitMsDefault = 600_000;

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

/** Returns the checked tables for the parameters. Errors: ETL_DEFINITION, ETL_DEFINITION_CYCLE. */
export const tablesWith = (
  pipeline: Pipeline,
  params: Readonly<Record<string, unknown>>,
): readonly TableSpec[] => {
  const problems = new Problems();
  const specs = tableSpecs(callTables(pipeline, params), pipeline.name, problems);
  problems.throwIfAny(pipeline.name);
  return freezeDeep(specs);
};

/** Returns the declared tables, if necessary from the author's function. Errors: ETL_DEFINITION. */
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

/** True for a pipeline, even if another copy of sluice made it. */
export const isPipeline = (value: unknown): value is Pipeline =>
  typeof value === 'object' && value !== null && (value as Partial<Pipeline>)[pipelineBrand] === true;
