// Kinds of columns that the row routine reads from bytes: the memory layout and the routine of each.

import { column } from './layouts.ts';

/** A field of a column's layout: a number of 32 or 64 bits, or the address of numbers of 32 bits or of a list of tokens. */
export type FieldType = 'i32' | 'i64' | 'words' | 'tokens';

/** The value of each from a column type; tokens are texts with the byte that each means. */
export interface FieldValues {
  readonly i32: number;
  readonly i64: bigint;
  readonly words: readonly number[];
  readonly tokens: readonly (readonly [text: string, byte: number])[];
}

/** In place of a zone: every text of the column names its own offset. */
export const noZone = 0x7fffffff;

/**
 * How numbers are written. decimal: the byte before the decimals, or 0: everything as the server reads it. thousands: the bytes of
 * the separator, as a number; a byte 0, which no text holds, when there is none.
 */
const number = { decimal: 'i32', thousands: 'i32', thousandsBytes: 'i32' } as const;

/**
 * The kinds, usual ones first: the routine compares a column's kind in this order. `routine` is one of routines.ts, and reads
 * (column, start, end, out) -> the address after the value, or 0: the spelling is not the usual one.
 */
const kinds = {
  text: { routine: 'readText', layout: { charactersMax: 'i32' } },
  real: { routine: 'readReal', layout: number },
  /** bytes: of the value. */
  integer: { routine: 'readInteger', layout: { ...number, bytes: 'i32', least: 'i64', most: 'i64' } },
  double: { routine: 'readDouble', layout: number },
  /** rounds: 0 or 1, whether more decimals than the scale are rounded. */
  numeric: {
    routine: 'readNumeric',
    layout: { ...number, decimalsMax: 'i32', integersMax: 'i32', rounds: 'i32' },
  },
  /** These three in ISO 8601. */
  date: { routine: 'readDate', layout: {} },
  /** zone: seconds east of UTC for a text without an offset, or `noZone` · mayHaveOffset: 0 or 1. */
  timestamp: { routine: 'readTimestamp', layout: { zone: 'i32', mayHaveOffset: 'i32' } },
  time: { routine: 'readTime', layout: {} },
  /** All of them in another format. steps: each a `patternStep` · writes: one of `writes` · zone: seconds east of UTC when the pattern has no offset. */
  pattern: { routine: 'readPattern', layout: { steps: 'words', writes: 'i32', zone: 'i32' } },
  uuid: { routine: 'readUuid', layout: {} },
  boolean: { routine: 'readBoolean', layout: {} },
  /** Texts that mean a byte. other: what every other text means, or -1. */
  word: { routine: 'readWord', layout: { words: 'tokens', other: 'i32' } },
  /** isBinary: 0 or 1, for jsonb, which begins with a version and cannot store everything. */
  json: { routine: 'readJson', layout: { isBinary: 'i32' } },
  /** Several patterns. steps: those that are tried · list: for each pattern the bytes of its steps and the steps, then 0. */
  patterns: {
    routine: 'readPatterns',
    layout: { steps: 'i32', writes: 'i32', zone: 'i32', list: 'words' },
  },
} as const satisfies Readonly<
  Record<string, { readonly routine: string; readonly layout: Readonly<Record<string, FieldType>> }>
>;

type Kinds = typeof kinds;
type Name = keyof Kinds;

/** Every value is read as a text, by the column's reader. */
export const notFromBytes = { kind: 'other' } as const;

/** How the routine reads a column: a kind with the fields of its layout. */
export type ByteKind =
  | typeof notFromBytes
  | {
      [Kind in Name]: { readonly kind: Kind } & {
        readonly [Field in keyof Kinds[Kind]['layout']]: FieldValues[Kinds[Kind]['layout'][Field] &
          FieldType];
      };
    }[Name];

const sizes: Readonly<Record<FieldType, number>> = { i32: 4, i64: 8, words: 4, tokens: 4 };

/** Offsets of a layout's fields in a column, and its end. */
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
  /** The number in `column.kind`; 0 is `notFromBytes`. */
  number: index + 1,
  ...offsetsOf(layout),
}));

/** The kinds with their numbers and routines, in order. */
export const kindList: readonly { readonly number: number; readonly routine: string }[] = layouts;

/** Number of a kind, and the fields of its layout with their offsets. */
export const layoutOf = ({ kind }: ByteKind): Pick<(typeof layouts)[number], 'number' | 'fields'> =>
  layouts.find(({ name }) => name === kind) ?? { number: 0, fields: [] };

/** Offset of a field in columns of a kind. */
export const offsetOf = <Kind extends Name>(
  kind: Kind,
  field: keyof Kinds[Kind]['layout'] & string,
): number => layouts.find(({ name }) => name === kind)!.fields.find(({ name }) => name === field)!.offset;

/** Bytes of a column, whatever its kind. */
export const columnBytes = Math.max(...layouts.map(({ end }) => end));
