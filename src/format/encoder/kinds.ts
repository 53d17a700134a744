// Kinds of columns that the module reads. A column type chooses a kind in its `bytes`.

import * as layout from '../assembly/layouts.ts';

export type FieldType = 'i32' | 'i64' | 'words' | 'tokens';

export interface FieldValues {
  readonly i32: number;
  readonly i64: bigint;
  readonly words: readonly number[];
  readonly tokens: readonly (readonly [text: string, byte: number])[];
}

type Layout = Readonly<Record<string, readonly [FieldType, number]>>;

const number = {
  decimal: ['i32', layout.numberDecimal],
  thousands: ['i32', layout.numberThousands],
  thousandsBytes: ['i32', layout.numberThousandsBytes],
} as const;

const pattern = { writes: ['i32', layout.patternWrites], zone: ['i32', layout.patternZone] } as const;

/** The number of each kind, and where its values are: see assembly/layouts.ts. */
const kinds = {
  text: [layout.kindText, { charactersMax: ['i32', layout.textCharactersMax] }],
  real: [layout.kindReal, number],
  integer: [
    layout.kindInteger,
    {
      ...number,
      bytes: ['i32', layout.integerBytes],
      least: ['i64', layout.integerLeast],
      most: ['i64', layout.integerMost],
    },
  ],
  double: [layout.kindDouble, number],
  numeric: [
    layout.kindNumeric,
    {
      ...number,
      decimalsMax: ['i32', layout.numericDecimalsMax],
      integersMax: ['i32', layout.numericIntegersMax],
      rounds: ['i32', layout.numericRounds],
    },
  ],
  date: [layout.kindDate, {}],
  timestamp: [
    layout.kindTimestamp,
    { zone: ['i32', layout.timestampZone], mayHaveOffset: ['i32', layout.timestampMayHaveOffset] },
  ],
  time: [layout.kindTime, {}],
  pattern: [layout.kindPattern, { ...pattern, steps: ['words', layout.patternSteps] }],
  uuid: [layout.kindUuid, {}],
  boolean: [layout.kindBoolean, {}],
  word: [layout.kindWord, { words: ['tokens', layout.wordWords], other: ['i32', layout.wordOther] }],
  json: [layout.kindJson, { isBinary: ['i32', layout.jsonIsBinary] }],
  patterns: [layout.kindPatterns, { ...pattern, list: ['words', layout.patternsList] }],
} as const satisfies Readonly<Record<string, readonly [number, Layout]>>;

type Kinds = typeof kinds;
type Name = keyof Kinds;

/** Means that TypeScript reads every value. */
export const notFromBytes = { kind: 'other' } as const;

export type ByteKind =
  | typeof notFromBytes
  | {
      [Kind in Name]: { readonly kind: Kind } & {
        readonly [Field in keyof Kinds[Kind][1]]: FieldValues[(Kinds[Kind][1][Field] &
          readonly [FieldType, number])[0]];
      };
    }[Name];

export const kindNames = Object.keys(kinds) as readonly Name[];

/** Returns the kind's number, and name, type and offset of each of its values. */
export const layoutOf = ({
  kind,
}: ByteKind): {
  readonly number: number;
  readonly fields: readonly (readonly [string, FieldType, number])[];
} => {
  if (kind === 'other') return { number: 0, fields: [] };
  const [own, fields] = kinds[kind] as readonly [number, Layout];
  return {
    number: own,
    fields: Object.entries(fields).map(([name, [type, offset]]) => [name, type, offset]),
  };
};
