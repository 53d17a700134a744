// What is decided of a column, and from which summary of what was seen.

import type { ColumnTypeName } from '../../../format/types/registry.ts';
import type { Group, GroupRange } from './column-evidence.ts';

/** A type with its options, as a pipeline declares them. */
export interface TypeChoice {
  readonly type: ColumnTypeName;
  readonly options: Readonly<Record<string, unknown>>;
  /** What was seen, for the comment. */
  readonly range?: string;
  /** Two different texts never are one value. */
  readonly isOneToOne: boolean;
}

/** What a column may be instead, if a person says so. */
export interface Alternative {
  readonly label: string;
  readonly choice: TypeChoice;
}

/** What is to be said of a column whose type is not clear. */
export interface Doubt {
  readonly doubt: string;
  readonly alternatives: readonly Alternative[];
}

export interface Decision extends TypeChoice {
  /** Records whose field is no value, and those words among them that are one by declaration. */
  readonly missing: number;
  readonly words: readonly (readonly [word: string, count: number])[];
  /** Records with a value. */
  readonly values: number;
  /** Its values may have blanks around them: as another type than text, it needs `trim`. */
  readonly isPadded: boolean;
  readonly doubts: readonly string[];
  /** Of a column that stays text. */
  readonly alternatives: readonly { readonly label: string; readonly decision: Decision }[];
}

/** What all groups of a column have in common. */
export interface Summary extends GroupRange {
  readonly name: string;
  readonly groups: readonly Group[];
  /** Candidates that take every value. */
  readonly all: number;
  readonly values: number;
}
