// The interface of a column type. Builders, decoders, DDL, row schemas and docs derive from it.

import type { RejectCode } from '../../core/model.ts';
import type { ByteKind } from '../encoder/kinds.ts';

/** Why a text is not a value of the type. A return value, because bad texts are expected input. */
export interface Refusal {
  readonly code: RejectCode;
  readonly reason: string;
}

/**
 * Returns the text in a form that the server reads with the same meaning, or a refusal. Texts
 * declared as null never get here.
 */
export type Reader = (text: string) => string | Refusal;

/**
 * Appends a text that the type's reader returned to RowBytes (row-bytes.ts): length, then value, as
 * in PostgreSQL's docs, "COPY", Binary Format.
 * The parameter is `never` instead of RowBytes, because RowBytes needs the types of Node.js. A
 * user's pipeline imports this file's types and must compile without them
 * (test/package/guide.test.ts, "its TypeScript settings").
 */
export type ValueEncoder = (text: string, out: never) => void;

/**
 * Marks a type without an encoder. Tables with such a column are sent in COPY's text format, and
 * the server reads the value.
 */
export const serverReads = 'the server reads the text';

/**
 * Which values an option takes. `isSpelling` marks options that describe texts of the file; they do
 * not apply to `.default(v)` or to a schema's output.
 */
export type OptionShape = { readonly isSpelling?: boolean } & (
  | { readonly takes: 'whole number' | 'flag' | 'texts' }
  | { readonly takes: 'text or texts'; readonly must: string }
  | { readonly takes: 'text'; readonly must: string; readonly oneOf?: readonly string[] }
);

/** The column's values in JavaScript. */
export type ValueShape =
  | { readonly kind: 'string'; readonly charactersMax?: number }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'bigint'; readonly least: bigint; readonly most: bigint }
  | { readonly kind: 'float' | 'boolean' | 'uuid' | 'any' };

/**
 * How `.min` and `.max` compare values: as integers (the value's binary form) · as floats · as
 * decimals of any length.
 */
export type Order = 'whole' | 'float' | 'decimal';

/**
 * `Value` is the type's value in JavaScript. `Options` are the builder's options, without the
 * options that every column has.
 */
export interface ColumnType<Value = any, Options = any> {
  /** The type's name in DDL. */
  sql(options: Options): string;
  /** The options that the type takes. Any other option is an error in the pipeline. */
  readonly options: { readonly [Key in keyof Required<Options>]: OptionShape };
  /** Returns a sentence about a wrong option and what to do, or undefined. */
  optionsProblem?(options: Options): string | undefined;
  /** Makes the reader of a column. All decisions are made here, once per column, not per field. */
  reader(options: Options): Reader;
  /**
   * How the row routine (WebAssembly) reads a field. `notFromBytes`: it leaves every field to the
   * reader.
   */
  bytes(options: Options): ByteKind;
  readonly encode: ValueEncoder | typeof serverReads;
  /** Without an order, the type has no `.min` and `.max`. */
  readonly order?: Order;
  /** The value that `.check`, `.zod` and Row<> get. */
  value(options: Options): ValueShape;
  /** Converts a text that `reader` returned. */
  toValue(text: string, options: Options): Value;
  /**
   * Converts a JavaScript value (of `.default(v)` or `.zod`) to text. Undefined if its type is
   * wrong.
   */
  fromValue(value: unknown): string | undefined;
}

/** For types without options. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no key, which `object` does not say
export type NoOptions = Readonly<Record<never, never>>;

export const isRefusal = (result: string | Refusal): result is Refusal => typeof result !== 'string';
