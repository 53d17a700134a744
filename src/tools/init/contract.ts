// The decision for a column, and the evidence from which it is made.

import type { ColumnTypeName } from '../../format/types/registry.ts';
import type { Loss } from './loss.ts';

/** Ranges over all texts of a group. Initial values remain where a range does not apply. */
export interface GroupRange {
  least: number;
  most: number;
  /** Most digits before the decimal point (without leading zeros), and most digits after it. */
  integers: number;
  decimals: number;
  lengthMin: number;
  lengthMax: number;
  dateMin: number;
  dateMax: number;
  hasTimeOfDay: boolean;
  hasUpperCase: boolean;
  hasLowerCase: boolean;
  /** A number began with + or was -0, so that different texts can be equal numbers. */
  hasPlus: boolean;
}

export interface Group extends GroupRange {
  readonly mask: number;
  readonly counter: number;
  readonly texts: Map<string, number>;
  isFull: boolean;
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

/** An ambiguous column becomes text, with the doubt as a comment. */
export interface Doubt {
  readonly doubt: string;
  readonly alternatives: readonly Alternative[];
}

export interface Decision extends TypeChoice {
  readonly missing: number;
  readonly words: readonly (readonly [word: string, count: number])[];
  readonly values: number;
  /** True if values have blanks around them: types other than text then need `trim`. */
  readonly isPadded: boolean;
  readonly losses: readonly Loss[];
  readonly doubts: readonly string[];
  readonly alternatives: readonly { readonly label: string; readonly decision: Decision }[];
}

export interface Summary extends GroupRange {
  readonly name: string;
  readonly groups: readonly Group[];
  readonly all: number;
  readonly values: number;
}
