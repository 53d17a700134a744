// Counts the texts of a file that production does not keep character for character, as declared.

import type { ColumnSpec, Dialect } from '../../core/declaration.ts';
import { trimBlanks } from '../../format/records/blanks.ts';
import type { CsvRecord } from '../../format/records/csv-records.ts';
import type { FileFields } from '../../format/records/file-fields.ts';
import { isOneOf } from '../../format/records/null-tokens.ts';
import {
  blanksAlone,
  blanksAround,
  centuries,
  hasShortYears,
  nullWords,
  whatChanges,
} from '../what-is-lost.ts';
import { valueWriter } from '../write-back.ts';
import type { VerifyLoss } from './report.ts';

type Source = CsvRecord['source'];
type Find = (text: string, value: string | null) => readonly string[];

const replaced = 'texts that `tokens`, `map` or a schema replaces';

/** Returns a function that says what is lost of a text. `value`: what the server prints. */
const finderOf = (column: ColumnSpec, dialect: Dialect): Find => {
  const { tokens, map, schema } = column;
  const isReplacing = map !== undefined || schema !== undefined || Object.keys(tokens).length > 0;
  const isNullWord = isOneOf([...dialect.nulls, ...column.nulls]);
  const write = valueWriter(column);
  const years = hasShortYears(column) ? [centuries(column)] : [];
  return (text, value) => {
    const bare = trimBlanks(text);
    if (bare === '' && value !== text) return [blanksAlone];
    if (isNullWord(dialect.trim === false ? text : bare)) return [nullWords];
    if (value === null) return [replaced];
    const written = write(value);
    if (written === text) return years;
    return [
      ...(bare === text ? [] : [blanksAround]),
      ...(bare === written ? [] : [isReplacing ? replaced : whatChanges(column, bare)]),
      ...years,
    ];
  };
};

const keptBy = (what: string, { trim }: Dialect): string => {
  if (what === nullWords) return 'without `nulls` they are kept';
  if (what === replaced) return 'as the pipeline declares';
  const isTrim = trim !== false && (what === blanksAlone || what === blanksAround);
  return isTrim ? '`trim: false` keeps them' : '`column.text` keeps the text';
};

const textsMax = 1_024;
const textLengthMax = 64;

/** Returns a function that reads the text of a column, or undefined if it is not a text of the record. */
const textOf = ({ headers, separator, test }: ColumnSpec, { indexOf, textAt }: FileFields) => {
  const indexes = headers.map(indexOf);
  if (test !== undefined || indexes.some((index) => textAt(index) !== undefined)) return () => undefined;
  const [only = -1] = indexes;
  if (indexes.length === 1) return (source: Source): string | undefined => source[only];
  return (source: Source): string | undefined => {
    const parts = indexes.map((index) => source[index]);
    return parts.includes(undefined) ? undefined : parts.join(separator);
  };
};

type Counter = Omit<VerifyLoss, 'cells'> & { cells: number };

/** Counts the losses of one column. Texts of a column often repeat, so their losses are remembered. */
const createColumnCount = (column: ColumnSpec, file: string, dialect: Dialect) => {
  const find = finderOf(column, dialect);
  const losses = new Map<string, Counter>();
  const known = new Map<string, readonly Counter[]>();
  const countersOf = (text: string, becomes: string | null, lineOf: () => number): readonly Counter[] => {
    const found = find(text, becomes).map((what) => {
      const before = losses.get(what);
      if (before !== undefined) return before;
      const example = { text, file, line: lineOf(), becomes };
      const one = { column: column.name, what, cells: 0, example, keep: keptBy(what, dialect) };
      losses.set(what, one);
      return one;
    });
    if (known.size >= textsMax) known.clear();
    if (text.length <= textLengthMax) known.set(text, found);
    return found;
  };
  return {
    losses,
    add: (text: string, value: string | null, lineOf: () => number): void => {
      for (const one of known.get(text) ?? countersOf(text, value, lineOf)) one.cells += 1;
    },
  };
};

/** Counts the losses of a file. */
export const createLossCount = (
  columns: readonly ColumnSpec[],
  fields: FileFields,
  file: string,
  dialect: Dialect,
) => {
  const all = columns.map((column) => ({
    textOf: textOf(column, fields),
    // `2000` in a column with separators is written back as `2,000`.
    isExact: !hasShortYears(column) && column.options['thousands'] === undefined,
    count: createColumnCount(column, file, dialect),
  }));
  return {
    /** Takes a record that is loaded: its texts, and the values of the columns. */
    add: (source: Source, values: readonly (string | null)[], lineOf: () => number): void => {
      for (let index = 0; index < all.length; index += 1) {
        const { textOf: read, isExact, count } = all[index]!;
        const text = read(source);
        const value = values[index]!;
        if (text !== undefined && text !== '' && (text !== value || !isExact)) count.add(text, value, lineOf);
      }
    },
    losses: (): readonly VerifyLoss[] => all.flatMap(({ count }) => [...count.losses.values()]),
  };
};

/** Adds the losses of several files: the same loss of a column is listed once. */
export const addLosses = (losses: readonly VerifyLoss[]): readonly VerifyLoss[] => {
  const sums = new Map<string, VerifyLoss>();
  for (const loss of losses) {
    const key = `${loss.column}\0${loss.what}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? loss : { ...known, cells: known.cells + loss.cells });
  }
  return [...sums.values()];
};
