// The interface of a column type.

import type { RejectCode } from '../../core/model.ts';
import type { ByteKind } from '../encoder/kinds.ts';

/** Why a text is refused: not an exception, because bad texts are expected input. */
export interface Refusal {
  readonly code: RejectCode;
  readonly reason: string;
}

/** Returns text that the server reads with the same meaning, or a refusal. */
export type Reader = (text: string) => string | Refusal;

/**
 * Appends a text that the type's reader returned to RowBytes: length, then value (PostgreSQL,
 * "COPY", Binary Format). `out` is `never` because RowBytes needs the types of Node.js, and users'
 * pipelines must compile without them. Proved by test/package/guide.test.ts, "its TypeScript
 * settings".
 */
export type ValueEncoder = (text: string, out: never) => void;

/** Marks a type without an encoder. Tables with such a column use COPY's text format. */
export const serverReads = 'the server reads the text';

/** `isSpelling` marks options that describe texts of the file, not `.default(v)` or a schema. */
export type OptionShape = { readonly isSpelling?: boolean } & (
  | { readonly takes: 'whole number' | 'flag' | 'texts' }
  | { readonly takes: 'text or texts'; readonly must: string }
  | { readonly takes: 'text'; readonly must: string; readonly oneOf?: readonly string[] }
);

export type ValueShape =
  | { readonly kind: 'string'; readonly charactersMax?: number }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'bigint'; readonly least: bigint; readonly most: bigint }
  | { readonly kind: 'float' | 'boolean' | 'uuid' | 'any' };

/** How `.min` and `.max` compare: as integers (the binary value), floats, or decimals. */
export type Order = 'whole' | 'float' | 'decimal';

export interface ColumnType<Value = any, Options = any> {
  sql(options: Options): string;
  readonly options: { readonly [Key in keyof Required<Options>]: OptionShape };
  optionsProblem?(options: Options): string | undefined;
  /** Makes the reader of a column. All decisions are made once per column, not per field. */
  reader(options: Options): Reader;
  bytes(options: Options): ByteKind;
  readonly encode: ValueEncoder | typeof serverReads;
  readonly order?: Order;
  /** The value that `.check`, `.zod` and Row<> get. */
  value(options: Options): ValueShape;
  toValue(text: string, options: Options): Value;
  /** Converts a JavaScript value (`.default(v)`, `.zod`) to text. Undefined for other types. */
  fromValue(value: unknown): string | undefined;
}

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no key, which `object` does not say
export type NoOptions = Readonly<Record<never, never>>;

export const oneOfOption = (...oneOf: readonly string[]): OptionShape => {
  const texts = oneOf.map((text) => `'${text}'`);
  const must = [texts.slice(0, -1).join(', '), texts.at(-1)].filter(Boolean).join(' or ');
  return { takes: 'text', must, oneOf, isSpelling: true };
};

export const isRefusal = (result: string | Refusal): result is Refusal => typeof result !== 'string';
