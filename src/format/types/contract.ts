// A column type: one object, from which builders, decoders, DDL, row schemas and docs follow.

import type { RejectCode } from '../../core/model.ts';
import type { ByteKind } from '../encoder/kinds.ts';

/** Why a text is not a value of the type. A value, not an exception: refusals are expected. */
export interface Refusal {
  readonly code: RejectCode;
  readonly reason: string;
}

/** Text that the server reads without changing its meaning, or the refusal. Never called with a null token. */
export type Reader = (text: string) => string | Refusal;

/**
 * Writes length and value of a text that the type's reader returned into RowBytes (binary/row-bytes.ts). PostgreSQL, "COPY", Binary
 * Format. RowBytes is not named here: a pipeline's types lead to this file, and must not need those of Node.js
 * (test/package/guide.test.ts, "its TypeScript settings").
 */
export type ValueEncoder = (text: string, out: never) => void;

/** In place of an encoder: the server reads the text, and rows of a table with such a column are sent as text. */
export const serverReads = 'the server reads the text';

/** Values of an option. A spelling applies to the file, not to `.default(v)` or a schema's output. */
export type OptionShape = { readonly isSpelling?: boolean } & (
  | { readonly takes: 'whole number' | 'flag' | 'texts' }
  | { readonly takes: 'text or texts'; readonly must: string }
  | { readonly takes: 'text'; readonly must: string; readonly oneOf?: readonly string[] }
);

/** The values in JavaScript. */
export type ValueShape =
  | { readonly kind: 'string'; readonly charactersMax?: number }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'bigint'; readonly least: bigint; readonly most: bigint }
  | { readonly kind: 'float' | 'boolean' | 'uuid' | 'any' };

/** How values compare, for `.min` and `.max`: by their binary form as whole numbers · as floats · as decimals of any length. */
export type Order = 'whole' | 'float' | 'decimal';

/** `Value`: its JavaScript value. `Options`: its builder's options beside those of every column. */
export interface ColumnType<Value = any, Options = any> {
  /** The type as DDL writes it. */
  sql(options: Options): string;
  /** Values of each option; any other option is a definition error. */
  readonly options: { readonly [Key in keyof Required<Options>]: OptionShape };
  /** The problem of the options, as a sentence that says what to do; undefined: none. */
  optionsProblem?(options: Options): string | undefined;
  /** Chooses everything once per column, so that nothing is asked per field. */
  reader(options: Options): Reader;
  /** How the row routine reads the column from bytes; `notFromBytes` when it asks the reader for every value. */
  bytes(options: Options): ByteKind;
  readonly encode: ValueEncoder | typeof serverReads;
  /** Types without an order have no `.min` and `.max`. */
  readonly order?: Order;
  /** The value for `.check`, `.zod` and Row<>. */
  value(options: Options): ValueShape;
  /** The value of a text that `reader` returned. */
  toValue(text: string, options: Options): Value;
  /** The text for a JavaScript value (of `.default(v)` or `.zod`); undefined when it has another type. */
  fromValue(value: unknown): string | undefined;
}

/** Options of a type that has none. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no key, which `object` does not say
export type NoOptions = Readonly<Record<never, never>>;

export const isRefusal = (result: string | Refusal): result is Refusal => typeof result !== 'string';
