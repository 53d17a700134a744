// Which column of a CSV of corrections is which, by their names: a spreadsheet moves columns, and drops or adds empty ones at the end.

import { inQuotes } from '../../core/wording.ts';
import { reasonColumns, reasonNames } from './reject-export.ts';

/** The columns that say which record is meant, and whether it is corrected; the others in front may be missing. */
const neededColumns = ['run', 'table', 'file', 'byte', 'record'] as const;

interface Problem {
  readonly problem: string;
}

/** A column of the CSV that may be a field of the file. */
interface OwnColumn {
  readonly name: string;
  readonly place: number;
}

/** What the first line of a CSV of corrections says. */
export interface CorrectionColumns {
  /** How many fields each record has. */
  readonly count: number;
  readonly places: Readonly<Record<(typeof neededColumns)[number], number>>;
  readonly own: readonly OwnColumn[];
}

/** Finds the columns of an export among the names of the first line, wherever they are. */
export const correctionColumns = (names: readonly string[]): CorrectionColumns | Problem => {
  // A file that is an export itself has such names, too; ours came first.
  const before = names.find((name) => /^_+run$/.test(name))?.slice(0, -'run'.length);
  if (before === undefined) return { problem: 'it does not have the columns of an export' };
  const missing = neededColumns.find((name) => !names.includes(before + name));
  if (missing !== undefined) return { problem: `it has no column ${before}${missing}` };
  const placeOf = (name: string): number => names.indexOf(before + name);
  const taken = new Set(reasonColumns.map(placeOf));
  const places = Object.fromEntries(neededColumns.map((name) => [name, placeOf(name)]));
  return {
    count: names.length,
    places: places as CorrectionColumns['places'],
    own: names.map((name, place) => ({ name, place })).filter(({ place }) => !taken.has(place)),
  };
};

/** Where the fields of a file are in the CSV. */
export interface FieldPlaces {
  /** In the order of the file; undefined: a field without a name at the end, which is empty in every record. */
  readonly fields: readonly (number | undefined)[];
  /** Columns without a name that the file does not have: nothing may be in them. */
  readonly blank: readonly number[];
}

/** Fields that have a name, or are followed by one that has. */
const namedCount = (header: readonly string[]): number => header.findLastIndex((name) => name !== '') + 1;

/** Places in ascending order, as the columns of an export are. */
const isInOrder = (places: readonly (number | undefined)[]): boolean => {
  const known = places.filter((place) => place !== undefined);
  return known.every((place, index) => index === 0 || place > known[index - 1]!);
};

/** Finds each field of a file by its name. Columns in another order need names that are different. */
export const fieldPlaces = ({ own }: CorrectionColumns, header: readonly string[]): FieldPlaces | Problem => {
  const left = [...own];
  const fields: (number | undefined)[] = [];
  for (const [index, name] of header.entries()) {
    const at = left.findIndex((column) => column.name === name);
    if (at === -1 && index < namedCount(header))
      return { problem: `it has no column ${name === '' ? `for field ${index + 1}` : inQuotes(name)}` };
    fields.push(at === -1 ? undefined : left.splice(at, 1)[0]!.place);
  }
  const other = left.find(({ name }) => name !== '');
  if (other !== undefined) return { problem: `its column ${inQuotes(other.name)} is not one of the file` };
  const twice = header.find((name, index) => header.indexOf(name) !== index);
  if (twice !== undefined && !isInOrder(fields))
    return { problem: `its columns are in another order, and two of them have the name ${inQuotes(twice)}` };
  return { fields, blank: left.map(({ place }) => place) };
};

/** The names that the first line of an export has in front, for a message. */
export const usualNames = (): string => reasonNames([]).join(', ');
