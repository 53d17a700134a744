// What the fuzzing of the whole path draws by chance: files, how they are written, where they are, and how they are loaded.

import fc from 'fast-check';
import { fileForms } from './file-forms.ts';

/** What a field is made of, whatever its column is. */
export interface Cell {
  readonly number: number;
  readonly text: string;
  readonly isNull: boolean;
  /** Written in quotes where it need not be. */
  readonly isQuoted: boolean;
}

/** Pieces that a hostile writer would put next to each other. */
const bits = ['a', 'b', 'é', 'あ', 'ソ', '𝄞', '"', "'", '\\', ',', ';', '|', '§', '\t', '\n', '\r', '\r\n'];
const rareBits = [
  ' ',
  '#',
  '//',
  'NA',
  'N',
  '.',
  '\\N',
  '""',
  '\b',
  '\f',
  '\v\x1a',
  'x'.repeat(70),
  'y'.repeat(3000),
];
const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...bits) },
      { weight: 1, arbitrary: fc.constantFrom(...rareBits) },
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const cell: fc.Arbitrary<Cell> = fc.record({
  number: fc.integer({ min: -999_999, max: 999_999 }),
  text,
  isNull: fc.constantFrom(false, false, false, true),
  isQuoted: fc.boolean(),
});

export const kinds = ['text', 'integer', 'numeric', 'boolean', 'date'] as const;
export type Kind = (typeof kinds)[number];
const columnsMax = 4;

const often = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const seldom = <T>(other: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: other });

/** One record, as it is meant to be written. */
const record = fc.record({
  id: cell,
  cells: fc.array(cell, { minLength: columnsMax, maxLength: columnsMax }),
  fault: fc.oneof(
    { weight: 8, arbitrary: fc.constant('none' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('type' as const, 'short' as const, 'long' as const, 'no id' as const),
    },
  ),
  before: fc.oneof(
    { weight: 8, arbitrary: fc.constant('nothing' as const) },
    { weight: 1, arbitrary: fc.constantFrom('blank line' as const, 'comment' as const) },
  ),
  /** Where comments may begin anywhere. */
  hasCommentAfter: often(false, true),
});
export type RecordPlan = typeof record extends fc.Arbitrary<infer T> ? T : never;

const dialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|', '||', '§'),
  quote: often<string | null>('"', "'", null),
  escape: often<'quote' | 'backslash' | 'postgres' | 'mysql' | 'any'>(
    'quote',
    'backslash',
    'postgres',
    'mysql',
    'any',
  ),
  quotes: often<'strict' | 'lenient'>('strict', 'lenient'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  /** Declared, or found. */
  isNewlineDeclared: fc.boolean(),
  header: fc.constantFrom('names' as const, 'none' as const, 'list' as const),
  trim: often<boolean | 'outside'>(false, true, 'outside'),
  nulls: fc.constantFrom<readonly string[]>([''], ['NA'], ['', 'NA'], []),
  quotedNulls: often(true, false),
  comment: often<string | null>(null, '#', '//'),
  comments: fc.constantFrom('lines' as const, 'infix' as const),
  /** Of a header with names: how many lines it has, and whether it is written in other ways than declared. */
  headerLines: often(1, 2, 3),
  match: often<'exact' | 'relaxed'>('exact', 'relaxed'),
  skipLines: often(0, 1, 2),
  skipEnd: often(0, 1, 2),
  ragged: fc.constantFrom('reject' as const, 'pad' as const, 'cut' as const),
  isEnded: fc.boolean(),
});
export type DialectPlan = typeof dialect extends fc.Arbitrary<infer T> ? T : never;

/** What the dialect of another place may have of its own: columns name the same fields of all places. */
export const ownOfPlaces = [
  'delimiter',
  'quote',
  'escape',
  'quotes',
  'newline',
  'isNewlineDeclared',
  'trim',
  'nulls',
  'quotedNulls',
  'comment',
  'comments',
  'skipLines',
  'skipEnd',
  'ragged',
  'isEnded',
] as const satisfies readonly (keyof DialectPlan)[];

/** Changes of bytes at places by chance; a byte is often one that means something. */
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('change' as const, 'insert' as const, 'remove' as const, 'end' as const),
    byte: fc.oneof(fc.constantFrom(...Buffer.from('"\',;|\t\r\n\\\0\xff #', 'latin1')), fc.nat({ max: 255 })),
  }),
  { minLength: 1, maxLength: 4 },
);
export type Edit = (typeof edits extends fc.Arbitrary<infer T> ? T : never)[number];

const place = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('directory' as const) }) },
  // A process of its own.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('standard input' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('web server' as const),
      /** Of answers, each after so many bytes. */
      cuts: fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 2 }),
      hasTag: fc.boolean(),
      hasDate: fc.boolean(),
      hasRanges: fc.boolean(),
      hasLength: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('bucket' as const),
      faults: fc.array(fc.oneof(fc.constant('busy' as const), fc.integer({ min: 1, max: 30_000 })), {
        maxLength: 2,
      }),
    }),
  },
);

const encoding = often<
  'utf-8' | 'utf-8 with mark' | 'utf-16le' | 'utf-16 by mark' | 'windows-1252' | 'shift_jis'
>('utf-8', 'utf-8 with mark', 'utf-16le', 'utf-16 by mark', 'windows-1252', 'shift_jis');

/** A table and its files. One without a header has a record at least: a file of nothing is an error. */
const anyTable = fc
  .record({
    kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: columnsMax }),
    records: fc.array(record, { maxLength: 40, size: 'max' }),
    /** The records are repeated, under other ids. */
    times: often(1, 2, 20, 150),
    files: often(1, 2, 3),
    dialect,
    encoding,
    /** How the files after the first one are written, in turn; null: as that one. */
    others: seldom(fc.array(fc.record({ dialect, encoding }), { minLength: 1, maxLength: 2 })),
    form: fc.constantFrom(...fileForms.filter((one) => one.encoding === undefined).map(({ name }) => name)),
    place,
    staging: often<'typed' | 'none' | 'text'>('typed', 'none', 'text'),
    /** Of each file, in turn: a field that all of its records have. */
    constants: seldom(
      fc.array(fc.constantFrom('north', 'NA', '', ' é ', 'a\\tb', '"', '17'), { minLength: 1, maxLength: 3 }),
    ),
    /** Of the first file: of its text, or of its compressed bytes. */
    damage: seldom(
      fc.record({ of: fc.constantFrom('content' as const, 'content' as const, 'packed' as const), edits }),
    ),
  })
  .filter(({ records, dialect: { header } }) => records.length > 0 || header === 'names');

/** One damaged file with nothing but what RFC 4180 has: csv-parse may take it as well. */
const simple = (table: TablePlan, changes: readonly Edit[]) => ({
  ...table,
  damage: { of: 'content' as const, edits: [...changes] },
  files: 1,
  encoding: 'utf-8' as const,
  staging: table.staging === 'text' ? ('typed' as const) : table.staging,
  dialect: {
    ...table.dialect,
    quote: table.dialect.quote ?? '"',
    escape: 'quote' as const,
    quotedNulls: true,
    quotes: 'strict' as const,
    newline: table.dialect.newline === '\r' ? '\n' : table.dialect.newline,
    isNewlineDeclared: false,
    header: 'names' as const,
    headerLines: 1,
    match: 'exact' as const,
    trim: false,
    comment: null,
    skipLines: 0,
    skipEnd: 0,
  },
});
type TablePlan = typeof anyTable extends fc.Arbitrary<infer T> ? T : never;

export const tableScene = fc.tuple(anyTable, seldom(edits)).map(([table, changes]) => ({
  ...(changes === null ? table : simple(table, changes)),
  // Where fields come as they are, every one is a column of the file.
  ...(table.staging === 'text' ? { constants: null } : {}),
  isSimple: changes !== null,
}));
export type TableScene = typeof tableScene extends fc.Arbitrary<infer T> ? T : never;

/** One load: everything that is left to chance, as plain data that is printed when it fails. */
export const scene = fc.record({
  tables: fc.array(tableScene, { minLength: 1, maxLength: 6, size: 'max' }),
  chunkBytes: fc.oneof(fc.constant(32 * 1024 * 1024), fc.integer({ min: 1, max: 100_000 })),
  workers: fc.integer({ min: 1, max: 3 }),
  /** The run is stopped at this event, and run again. */
  stopAt: seldom(
    fc.record({ event: fc.nat({ max: 40 }), how: fc.constantFrom('signal' as const, 'drain' as const) }),
  ),
});
export type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;
