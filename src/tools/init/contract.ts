// The decision for a column, and the evidence from which it is made.

import type { ColumnTypeName } from '../../format/types/registry.ts';
import type { Example, Loss } from '../loss.ts';

/** A text of a column: its counter, and where it is first. */
export interface Word {
  readonly counter: number;
  readonly example: Example;
}

/** Ranges over all texts of a group. Initial values remain where a range does not apply. */
export interface GroupRange {
  least: number;
  most: number;
  /** Most digits before the decimal point (without leading zeros), and most and fewest after it. */
  integers: number;
  decimals: number;
  decimalsMin: number;
  hasTimeOfDay: boolean;
  /** A number has an exponent, or a number may be rounded by a double. */
  hasExponent: boolean;
  isInexact: boolean;
}

export interface Group extends GroupRange {
  readonly mask: number;
  readonly counter: number;
  readonly texts: Map<string, Word>;
  isFull: boolean;
  /** The first text of each form (forms.ts), of the first `formsMax` forms. */
  readonly forms: Map<string, Example>;
  /** True if only a double accepts the texts: each was written back, and this is the first that changes. */
  readonly isOfDoubles: boolean;
  changedByDouble: Example | undefined;
}

export interface TypeChoice {
  readonly type: ColumnTypeName;
  readonly options: Readonly<Record<string, unknown>>;
  readonly range?: string;
  /** True if different texts are always different values, as a primary key requires. */
  readonly isOneToOne: boolean;
}

export interface Alternative {
  readonly label: string;
  readonly choice: TypeChoice;
}

/** A type that the user declares. Without options, those that fit the values. */
export interface DeclaredType {
  readonly type: ColumnTypeName;
  readonly options: Readonly<Record<string, unknown>> | undefined;
}

/** An ambiguous column, or one of codes, becomes text, with the doubt as a comment. */
export interface Doubt {
  readonly doubt: string;
  readonly alternatives: readonly Alternative[];
}

export interface Decision extends TypeChoice {
  readonly missing: number;
  /** Texts that mean "no value". */
  readonly words: readonly (readonly [word: string, count: number])[];
  /** Fields of blanks alone that are declared as null, where the dialect does not trim. */
  readonly blanks: readonly string[];
  readonly values: number;
  readonly losses: readonly Loss[];
  readonly doubts: readonly string[];
  readonly alternatives: readonly { readonly label: string; readonly decision: Decision }[];
}

export interface Summary extends GroupRange {
  readonly name: string;
  readonly groups: readonly Group[];
  readonly examples: readonly Example[];
  readonly all: number;
  readonly values: number;
}
