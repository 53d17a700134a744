// column.*: what a user writes for one column. Builders are frozen and typed; nothing is checked here.

import type { z } from 'zod';
import type { ColumnType } from '../../format/types/contract.ts';
import { columnTypes, type ColumnTypeName } from '../../format/types/registry.ts';
import { freezeDeep } from '../freeze.ts';
import { serverColumns } from './server-column.ts';
import type { ZodSchema } from './schema-types.ts';

/** A part of a file's path: made by `path(…)`. */
export interface PathPart {
  readonly path: RegExp;
}

/**
 * A field of the file: by its header, by its position from 1, or by one of several headers, of which a file must have one. Or a part
 * of the file's path.
 */
export type Field = string | number | { readonly from: readonly string[] } | PathPart;

/**
 * A part of the path of each file, the same for all its records: `column.text(path(/region=(\w+)/))`.
 *
 * @param pattern finds the part: its group, or all that it matches when it has none. A file whose path it does not match ends the run.
 */
export const path = (pattern: RegExp): PathPart => Object.freeze({ path: pattern });

/** A field, or several that are joined, with the option `separator` between. */
export type Headers = Field | readonly Field[];

/** What the columns of every type can say, also as modifiers. */
export interface CommonOptions {
  /** Field texts that mean "no value" in this column, beside those of csv(…, { nulls }). */
  readonly nulls?: readonly string[];
  /** Field texts that stand for another text: { T: '0' }. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Text between fields that are joined; none by default. */
  readonly separator?: string;
}

/** Key of the raw declaration; registered, so that two copies of sluice understand each other. @public in declarations of types. */
export const columnState: unique symbol = Symbol.for('sluice.column') as never;
declare const valueTypes: unique symbol;

/** A column as it was written, not yet checked: plain JavaScript may have put anything here. */
export interface ColumnState {
  readonly type: string;
  readonly headers: unknown;
  readonly options: unknown;
  readonly sqlType: unknown;
  readonly nullable: boolean;
  readonly nulls: readonly unknown[];
  readonly tokens: readonly unknown[];
  readonly default: { readonly value: unknown } | undefined;
  readonly map: unknown;
  readonly rules: readonly { readonly kind: string; readonly value: unknown }[];
  readonly checks: readonly { readonly test: unknown; readonly message: unknown }[];
  readonly schema: unknown;
  /** Modifiers that there are not. */
  readonly unknown: readonly string[];
}

/** A Zod schema that fits a column: it reads the column's value and gives one that the column can store. */
export type SchemaFor<Schema extends ZodSchema, Value> = [Value] extends [z.input<Schema>]
  ? StoresAs<Schema, Value>
  : [z.input<Schema>] extends [Value]
    ? StoresAs<Schema, Value>
    : { readonly 'the schema must read': Value };
type StoresAs<Schema extends ZodSchema, Value> = [z.output<Schema>] extends [Value]
  ? unknown
  : { readonly 'the schema must give': Value };

/** How many characters a text has: exactly so many, or a range whose ends are included. */
export type Length = number | { readonly min?: number; readonly max?: number };

/** One column; `Value` is its JavaScript value in checks, schemas and rows. Modifiers give a new column. */
export interface Column<Value, Nullable extends boolean = boolean> {
  readonly [columnState]: ColumnState;
  readonly [valueTypes]?: { readonly value: Value; readonly nullable: Nullable };
  /** A null token becomes null instead of rejecting the record. */
  nullable(): Column<Value, true>;
  /** More field texts that mean "no value". */
  nulls(texts: readonly string[]): Column<Value, Nullable>;
  /** Field texts that stand for another text: `.tokens({ T: '0' })`. */
  tokens(texts: Readonly<Record<string, string>>): Column<Value, Nullable>;
  /** The value of a missing field; the record is then not rejected. */
  default(value: Value): Column<Value, Nullable>;
  /** Rejects values below the bound, of numbers, dates and times: `.min(0)`, `.min('2011-01-01')`. Nulls are not tested. */
  min(least: Value | number): Column<Value, Nullable>;
  /** Rejects values above the bound: `.max(100)`. */
  max(most: Value | number): Column<Value, Nullable>;
  /** Rejects all values but these: `.oneOf(['AA', 'SP'])`. */
  oneOf(values: readonly Value[]): Column<Value, Nullable>;
  /** Rejects texts that the pattern does not match: `.pattern(/^[A-Z]{2}$/)`. */
  pattern(pattern: RegExp): Column<Value, Nullable>;
  /** Rejects texts of another length in characters: `.length({ min: 1, max: 80 })`, `.length(2)`. */
  length(characters: Length): Column<Value, Nullable>;
  /** Rejects records whose value fails the test; `message` becomes the reason. Nulls are not tested. */
  check(test: (value: Value) => boolean, message: string): Column<Value, Nullable>;
  /** Changes the field's text before the type reads it; null means "no value". */
  map(change: (text: string) => string | null): Column<Value, Nullable>;
  /** Rejects records whose value the schema refuses, and stores what the schema gives. */
  zod<Schema extends ZodSchema>(
    schema: Schema & SchemaFor<Schema, Value>,
  ): Column<z.output<Schema> & Value, Nullable>;
}

export type AnyColumn = Column<any>;

/** Asked for by whatever inspects or awaits an object; not misspelt. */
const notMisspelt = new Set<PropertyKey>(['then', 'toJSON']);

/** The property of an object by its name, or a placeholder for a misspelt name. */
const readOr = (known: object, name: PropertyKey, misspelt: (name: string) => unknown): unknown =>
  typeof name !== 'string' || notMisspelt.has(name) || name in known
    ? Reflect.get(known, name)
    : misspelt(name);

/** As with types, a modifier that there is not makes a column, which definePipeline refuses with a suggestion. */
const build = (state: ColumnState): AnyColumn => {
  freezeDeep(state);
  const change = (changed: Partial<ColumnState>): AnyColumn => build({ ...state, ...changed });
  const rule = (kind: string) => (value: unknown) => change({ rules: [...state.rules, { kind, value }] });
  const builder: AnyColumn = {
    [columnState]: state,
    nullable: () => change({ nullable: true }) as Column<any, true>,
    nulls: (texts) => change({ nulls: [...state.nulls, texts] }),
    tokens: (texts) => change({ tokens: [...state.tokens, texts] }),
    default: (value) => change({ default: { value } }),
    min: rule('min'),
    max: rule('max'),
    oneOf: rule('oneOf'),
    pattern: rule('pattern'),
    length: rule('length'),
    check: (test, message) => change({ checks: [...state.checks, { test, message }] }),
    map: (map) => change({ map }),
    zod: (schema) => change({ schema }),
  };
  return new Proxy(Object.freeze(builder), {
    get: (known, name) =>
      readOr(known, name, (misspelt) => () => change({ unknown: [...state.unknown, misspelt] })),
  });
};

const start = (type: string, headers: unknown, options: unknown, sqlType?: unknown): Column<any, false> =>
  build({
    type,
    headers,
    options,
    sqlType,
    nullable: false,
    nulls: [],
    tokens: [],
    default: undefined,
    map: undefined,
    rules: [],
    checks: [],
    schema: undefined,
    unknown: [],
  }) as Column<any, false>;

/** The builder of a type: it takes the type's own options beside those of every column. */
type Builder<Type> =
  Type extends ColumnType<infer Value, infer Own>
    ? Partial<Own> extends Own
      ? (headers: Headers, options?: CommonOptions & Own) => Column<Value, false>
      : (headers: Headers, options: CommonOptions & Own) => Column<Value, false>
    : never;

/** The column types that `column` offers. */
export const columnTypeNames = Object.keys(columnTypes) as readonly ColumnTypeName[];

const builderOf =
  (type: string) =>
  (headers: unknown, options: unknown): Column<any, false> =>
    start(type, headers, options);

/** A function, so that declaration files name each builder and not what a type is within. */
const buildersOf = <Types extends object>(
  types: Types,
): { readonly [Name in keyof Types]: Builder<Types[Name]> } =>
  Object.fromEntries(Object.keys(types).map((type) => [type, builderOf(type)])) as never;

const builders = {
  ...buildersOf(columnTypes),
  ...serverColumns,
  /** Any other type of the server, by its name: `column.of('citext', 'Name')`. */
  of: (sqlType: string, headers: Headers, options?: CommonOptions): Column<string, false> =>
    start('of', headers, options, sqlType),
};

export type ColumnBuilders = Readonly<typeof builders>;

/**
 * The column types: `column.text('Header')`, `column.numeric('Price', { precision: 12, scale: 2 })`, …
 *
 * A name that is no type makes a column all the same, which definePipeline refuses with table, column and a
 * suggestion: calling undefined would say much less.
 */
export const column: ColumnBuilders = new Proxy(Object.freeze(builders), {
  get: (known, name) => readOr(known, name, builderOf),
});

/** The modifiers that a column offers. */
export const columnModifierNames: readonly string[] = Object.keys(start('text', '', {}));

/** What was declared, or undefined when the value was not made by column.*. */
export const stateOf = (value: unknown): ColumnState | undefined =>
  typeof value === 'object' && value !== null ? (value as Partial<AnyColumn>)[columnState] : undefined;
