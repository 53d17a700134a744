// Kinds of columns that the row routine (WebAssembly) can read.

import { column } from './layouts.ts';

export type FieldType = 'i32' | 'i64' | 'words' | 'tokens';

export interface FieldValues {
  readonly i32: number;
  readonly i64: bigint;
  readonly words: readonly number[];
  readonly tokens: readonly (readonly [text: string, byte: number])[];
}

/** Means that each text of the column has its own offset. */
export const noZone = 0x7fffffff;

/**
 * `decimal`: the decimal separator; 0 if numbers are written as the server reads them.
 * `thousands`: the separator's bytes as an integer; without a separator, one byte 0.
 */
const number = { decimal: 'i32', thousands: 'i32', thousandsBytes: 'i32' } as const;

/**
 * The routine tests the kinds in this order, so frequent kinds come first. Each `routine`:
 * (column, start, end, out) -> address after the value, or 0: JavaScript must decide.
 */
const kinds = {
  text: { routine: 'readText', layout: { charactersMax: 'i32' } },
  real: { routine: 'readReal', layout: number },
  integer: { routine: 'readInteger', layout: { ...number, bytes: 'i32', least: 'i64', most: 'i64' } },
  double: { routine: 'readDouble', layout: number },
  numeric: {
    routine: 'readNumeric',
    layout: { ...number, decimalsMax: 'i32', integersMax: 'i32', rounds: 'i32' },
  },
  date: { routine: 'readDate', layout: {} },
  /** zone: offset of texts without an offset, in seconds, or `noZone` · mayHaveOffset: 0 or 1. */
  timestamp: { routine: 'readTimestamp', layout: { zone: 'i32', mayHaveOffset: 'i32' } },
  time: { routine: 'readTime', layout: {} },
  pattern: { routine: 'readPattern', layout: { steps: 'words', writes: 'i32', zone: 'i32' } },
  uuid: { routine: 'readUuid', layout: {} },
  boolean: { routine: 'readBoolean', layout: {} },
  /** words: texts, each with the byte that it means · other: the byte for other texts, or -1. */
  word: { routine: 'readWord', layout: { words: 'tokens', other: 'i32' } },
  json: { routine: 'readJson', layout: { isBinary: 'i32' } },
  /** list: for each pattern the size of its steps in bytes, then the steps; then 0. */
  patterns: {
    routine: 'readPatterns',
    layout: { steps: 'i32', writes: 'i32', zone: 'i32', list: 'words' },
  },
} as const satisfies Readonly<
  Record<string, { readonly routine: string; readonly layout: Readonly<Record<string, FieldType>> }>
>;

type Kinds = typeof kinds;
type Name = keyof Kinds;

/** Means that JavaScript reads every value. */
export const notFromBytes = { kind: 'other' } as const;

export type ByteKind =
  | typeof notFromBytes
  | {
      [Kind in Name]: { readonly kind: Kind } & {
        readonly [Field in keyof Kinds[Kind]['layout']]: FieldValues[Kinds[Kind]['layout'][Field] &
          FieldType];
      };
    }[Name];

const sizes: Readonly<Record<FieldType, number>> = { i32: 4, i64: 8, words: 4, tokens: 4 };

const offsetsOf = (layout: Readonly<Record<string, FieldType>>) => {
  let end: number = column.own;
  const fields = Object.entries(layout).map(([name, type]) => {
    const field = { name, type, offset: end };
    end += sizes[type];
    return field;
  });
  return { fields, end };
};

const layouts = Object.entries(kinds).map(([name, { routine, layout }], index) => ({
  name,
  routine,
  number: index + 1,
  ...offsetsOf(layout),
}));

export const kindList: readonly { readonly number: number; readonly routine: string }[] = layouts;

export const layoutOf = ({ kind }: ByteKind): Pick<(typeof layouts)[number], 'number' | 'fields'> =>
  layouts.find(({ name }) => name === kind) ?? { number: 0, fields: [] };

export const offsetOf = <Kind extends Name>(
  kind: Kind,
  field: keyof Kinds[Kind]['layout'] & string,
): number => layouts.find(({ name }) => name === kind)!.fields.find(({ name }) => name === field)!.offset;

export const columnBytes = Math.max(...layouts.map(({ end }) => end));
