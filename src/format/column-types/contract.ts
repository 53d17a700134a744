// What every column type provides. One file a type; registry.ts lists them; the conformance suite tests each.

import type { ColumnOptions, ColumnTypeName } from '../../declaration.ts';
import type { RejectCode } from '../../model.ts';

/** Why a text is not a value of the type. A value, not an exception: refusals are expected. */
export interface Refusal {
  readonly code: RejectCode;
  readonly reason: string;
}

/** Text that the server reads without changing its meaning, or the refusal. Never called with a null token. */
export type Reader = (text: string) => string | Refusal;

export interface ColumnType {
  readonly name: ColumnTypeName;
  /** The type as DDL writes it. */
  sql(options: ColumnOptions): string;
  /** Which keys of ColumnOptions this type understands; the others are definition errors. */
  readonly optionKeys: readonly (keyof ColumnOptions)[];
  /** What is wrong with the options, as a sentence that says what to do; undefined when nothing is. */
  optionsProblem?(options: ColumnOptions): string | undefined;
  /** Chooses everything once per column, so that nothing is asked per field. */
  reader(options: ColumnOptions): Reader;
  /** The JavaScript value of a text that `reader` returned: what `.check`, `.zod` and Row<> see. */
  toValue(text: string, options: ColumnOptions): unknown;
  /** The text to read for a JavaScript value (`.default(v)`, what `.zod` returned); undefined when it is of another kind. */
  fromValue(value: unknown): string | undefined;
}

export const isRefusal = (result: string | Refusal): result is Refusal => typeof result !== 'string';
