// column.*: builds the frozen declaration of one column. definePipeline checks it later.

import type { z } from 'zod';
import type { BooleanOptions } from '../../format/types/boolean.ts';
import type { ColumnType } from '../../format/types/contract.ts';
import type { DateOptions, TimeOptions, TimestamptzOptions } from '../../format/types/datetime.ts';
import type { IntegerOptions, NumberOptions } from '../../format/types/number-spelling.ts';
import type { NumericOptions } from '../../format/types/numeric.ts';
import { columnTypes, type ColumnTypeName } from '../../format/types/registry.ts';
import type { ByteaOptions } from '../../format/types/bytea.ts';
import type { SpellingOptions } from '../../format/types/server-spelling.ts';
import type { VarcharOptions } from '../../format/types/text.ts';
import { freezeDeep } from '../freeze.ts';
import type { Headers } from './field.ts';
import { serverColumns, type ServerColumns } from './server-column.ts';
import type { ZodSchema } from './schema-types.ts';

/** Options that every column type accepts. */
export interface CommonOptions {
  /** Field texts that mean "no value" in this column, in addition to those of csv(…, { nulls }). */
  readonly nulls?: readonly string[];
  /** Field texts to replace by other texts before the type reads them: { T: '0' }. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Text to put between joined fields. Default: the empty text. */
  readonly separator?: string;
}

/**
 * Key of a column's declaration. Symbol.for, so that two copies of sluice share the key. @public
 */
export const columnState: unique symbol = Symbol.for('sluice.column') as never;
declare const valueTypes: unique symbol;

/** The declaration of a column, unchecked: a pipeline in JavaScript can pass values of any type. */
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
  /** Names of called modifiers that do not exist. */
  readonly unknown: readonly string[];
}

/** Allows a Zod schema whose input and output types fit the JavaScript value of the column. */
export type SchemaFor<Schema extends ZodSchema, Value> = [Value] extends [z.input<Schema>]
  ? StoresAs<Schema, Value>
  : [z.input<Schema>] extends [Value]
    ? StoresAs<Schema, Value>
    : {
        /** The schema does not accept every value of the column. */
        readonly 'the schema must read': Value;
      };
type StoresAs<Schema extends ZodSchema, Value> = [z.output<Schema>] extends [Value]
  ? unknown
  : {
      /** The schema's output is not a value of the column. */
      readonly 'the schema must give': Value;
    };

/** Length of a text in characters: an exact number, or a range with inclusive bounds. */
export type Length =
  | number
  | {
      /** Fewest characters. Default: 0. */
      readonly min?: number;
      /** Most characters. Default: no limit. */
      readonly max?: number;
    };

/**
 * A declared column. Each modifier returns a changed copy. `Value` is the JavaScript type of its
 * values in checks, schemas and rows.
 */
export interface Column<Value, Nullable extends boolean = boolean> {
  readonly [columnState]: ColumnState;
  readonly [valueTypes]?: { readonly value: Value; readonly nullable: Nullable };
  /** Allows null. Without this modifier, a record without a value is rejected. */
  nullable(): Column<Value, true>;
  /** Adds field texts that mean "no value": `.nulls(['NA', '-'])`. */
  nulls(texts: readonly string[]): Column<Value, Nullable>;
  /** Replaces field texts by other texts before the type reads them: `.tokens({ T: '0' })`. */
  tokens(texts: Readonly<Record<string, string>>): Column<Value, Nullable>;
  /** Stores this value for a record without a value: `.default(0)`. */
  default(value: Value): Column<Value, Nullable>;
  /**
   * Rejects records whose value is smaller: `.min(0)`, `.min('2011-01-01')`. For numbers, dates and
   * times. Nulls pass.
   */
  min(least: Value | number): Column<Value, Nullable>;
  /**
   * Rejects records whose value is greater: `.max(100)`. For numbers, dates and times. Nulls pass.
   */
  max(most: Value | number): Column<Value, Nullable>;
  /** Rejects records whose value is not in the list: `.oneOf(['AA', 'SP'])`. Nulls pass. */
  oneOf(values: readonly Value[]): Column<Value, Nullable>;
  /** Rejects records whose text does not match: `.pattern(/^[A-Z]{2}$/)`. Nulls pass. */
  pattern(pattern: RegExp): Column<Value, Nullable>;
  /**
   * Rejects records whose text is shorter or longer: `.length({ min: 1, max: 80 })`. Nulls pass.
   */
  length(characters: Length): Column<Value, Nullable>;
  /**
   * Rejects records for whose value the test returns false, with `message` as the reason:
   * `.check((code) => code !== 'XX', 'is a test code')`. Nulls are not tested.
   */
  check(test: (value: Value) => boolean, message: string): Column<Value, Nullable>;
  /**
   * Changes the field's text before the type reads it. The function returns null for "no value".
   */
  map(change: (text: string) => string | null): Column<Value, Nullable>;
  /** Rejects records whose value the Zod schema refuses, and stores the schema's output. */
  zod<Schema extends ZodSchema>(
    schema: Schema & SchemaFor<Schema, Value>,
  ): Column<z.output<Schema> & Value, Nullable>;
}

/** A column of any type. */
export type AnyColumn = Column<any>;

/** Properties that await and JSON.stringify look up on any object: not misspelt modifiers. */
const notMisspelt = new Set<PropertyKey>(['then', 'toJSON']);

/** Returns the property of this name, or a placeholder if the name is misspelt. */
const readOr = (known: object, name: PropertyKey, misspelt: (name: string) => unknown): unknown =>
  typeof name !== 'string' || notMisspelt.has(name) || name in known
    ? Reflect.get(known, name)
    : misspelt(name);

/**
 * Builds a column. An unknown modifier does not throw; it is recorded in the column, so that
 * definePipeline can refuse it with the table, the column and a suggestion.
 */
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

/**
 * The builder of a column type. Its options argument is optional if all options of the type are.
 */
type Builder<Type> =
  Type extends ColumnType<infer Value, infer Own>
    ? Partial<Own> extends Own
      ? (headers: Headers, options?: CommonOptions & Own) => Column<Value, false>
      : (headers: Headers, options: CommonOptions & Own) => Column<Value, false>
    : never;

type Build<Value, Options = CommonOptions> = (headers: Headers, options?: Options) => Column<Value, false>;

/** One builder for each column type. docs/reference/columns.md has all options. */
export interface ColumnBuilders extends ServerColumns {
  /** SQL `text`, any characters. In JavaScript a string. */
  readonly text: Build<string>;
  /** SQL `varchar(length)`. Longer texts are rejected. In JavaScript a string. */
  readonly varchar: (headers: Headers, options: CommonOptions & VarcharOptions) => Column<string, false>;
  /** SQL `smallint`: whole numbers of 2 bytes, from -32768 to 32767. In JavaScript a number. */
  readonly smallint: Build<number, CommonOptions & IntegerOptions>;
  /** SQL `integer`: whole numbers of 4 bytes, up to about 2.1 billion. In JavaScript a number. */
  readonly integer: Build<number, CommonOptions & IntegerOptions>;
  /** SQL `bigint`: whole numbers of 8 bytes. In JavaScript a bigint, because numbers round. */
  readonly bigint: Build<bigint, CommonOptions & IntegerOptions>;
  /** SQL `real`: a floating-point number with about 6 digits. In JavaScript a number. */
  readonly real: Build<number, CommonOptions & NumberOptions>;
  /**
   * SQL `double precision`: a floating-point number with about 15 digits. In JavaScript a number.
   */
  readonly double: Build<number, CommonOptions & NumberOptions>;
  /**
   * SQL `numeric`: exact decimals, `column.numeric('Price', { precision: 12, scale: 2 })`. More
   * decimals than the scale are rejected, unless `round` is set. In JavaScript a string, because
   * numbers round.
   */
  readonly numeric: Build<string, CommonOptions & NumericOptions>;
  /**
   * SQL `boolean`. Reads PostgreSQL's words (t, true, yes, on, 1 …) in any case, or with
   * `{ true: ['J'], false: ['N'] }` exactly the listed texts.
   */
  readonly boolean: Build<boolean, CommonOptions & BooleanOptions>;
  /** SQL `date`: ISO 8601, or by `format`. In JavaScript a string such as '2011-01-31'. */
  readonly date: Build<string, CommonOptions & DateOptions>;
  /** SQL `time`: HH:mm or HH:mm:ss with decimals, or by `format`. In JavaScript a string. */
  readonly time: Build<string, CommonOptions & TimeOptions>;
  /**
   * SQL `timestamp`, without a time zone: ISO 8601 with T or a blank, or by `format`. In JavaScript
   * a string such as '2011-01-31T00:53'.
   */
  readonly timestamp: Build<string, CommonOptions & TimeOptions>;
  /**
   * SQL `timestamptz`: as timestamp, with Z or an offset. Texts without an offset are rejected,
   * unless `zone` says where the time was read. In JavaScript a string.
   */
  readonly timestamptz: Build<string, CommonOptions & TimestamptzOptions>;
  /** SQL `uuid`. In JavaScript a string in lower case with hyphens. */
  readonly uuid: Build<string, CommonOptions & SpellingOptions>;
  /** SQL `json`, which keeps the text as it is. In JavaScript the result of JSON.parse. */
  readonly json: Build<unknown>;
  /**
   * SQL `jsonb`. Rejects what it cannot store: \u0000, unpaired surrogates and numbers beyond
   * numeric. In JavaScript the result of JSON.parse.
   */
  readonly jsonb: Build<unknown>;
  /**
   * SQL `bytea`. Reads what the server writes (`\xdead`, or characters with escapes such as `\255`);
   * with `encoding`, hexadecimal or base64. In JavaScript a string as the server writes it, `\x…`.
   */
  readonly bytea: Build<string, CommonOptions & ByteaOptions>;
  /**
   * Any other PostgreSQL type, by its name: `column.of('citext', 'Name')`. The server reads the
   * text, and records that it refuses are rejected.
   */
  readonly of: (sqlType: string, headers: Headers, options?: CommonOptions) => Column<string, false>;
}

/** The names of the column types that `column` offers. */
export const columnTypeNames: readonly (keyof ColumnBuilders)[] = Object.keys(
  columnTypes,
) as readonly ColumnTypeName[];

const builderOf =
  (type: string) =>
  (headers: unknown, options: unknown): Column<any, false> =>
    start(type, headers, options);

/** Makes the builders. The assignment to ColumnBuilders checks what that says about each type. */
const buildersOf = <Types extends object>(
  types: Types,
): { readonly [Name in keyof Types]: Builder<Types[Name]> } =>
  Object.fromEntries(Object.keys(types).map((type) => [type, builderOf(type)])) as never;

const builders: ColumnBuilders = {
  ...buildersOf(columnTypes),
  ...serverColumns,
  of: (sqlType, headers, options) => start('of', headers, options, sqlType),
};

/**
 * Declares a column, with one builder for each type: `column.text('Name')`,
 * `column.numeric('Price', { precision: 12, scale: 2 })`, `column.timestamptz('Sold
 * at').nullable()`. The first argument names the field of the file; the modifiers of the result are
 * rules for the values.
 *
 * An unknown type does not throw here: definePipeline refuses it with table, column and a
 * suggestion.
 */
export const column: ColumnBuilders = new Proxy(Object.freeze(builders), {
  get: (known, name) => readOr(known, name, builderOf),
});

/** The names of the modifiers that a column offers. */
export const columnModifierNames: readonly string[] = Object.keys(start('text', '', {}));

/** Returns the declaration of a column, or undefined if the value was not made by column.*. */
export const stateOf = (value: unknown): ColumnState | undefined =>
  typeof value === 'object' && value !== null ? (value as Partial<AnyColumn>)[columnState] : undefined;
