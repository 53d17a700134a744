// Finds columns in a CSV of corrections by name, because spreadsheets move, drop and add columns.

import { inQuotes } from '../../core/wording.ts';
import { reasonColumns, reasonNames } from './reject-export.ts';

/** Columns that identify the record; an export's other columns may be missing. */
const neededColumns = ['run', 'table', 'file', 'byte', 'record'] as const;

interface Problem {
  readonly problem: string;
}

interface OwnColumn {
  readonly name: string;
  readonly place: number;
}

export interface CorrectionColumns {
  readonly count: number;
  readonly places: Readonly<Record<(typeof neededColumns)[number], number>>;
  readonly own: readonly OwnColumn[];
}

export const correctionColumns = (names: readonly string[]): CorrectionColumns | Problem => {
  // The first match is ours: if the source file is an export itself, its own columns come later.
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

/** Where the CSV of corrections has the source file's fields, as column indexes. */
export interface FieldPlaces {
  /** undefined: an unnamed last field, empty in every record. */
  readonly fields: readonly (number | undefined)[];
  /** Unnamed columns that the source file does not have; they must be empty. */
  readonly blank: readonly number[];
}

const namedCount = (header: readonly string[]): number => header.findLastIndex((name) => name !== '') + 1;

const isInOrder = (places: readonly (number | undefined)[]): boolean => {
  const known = places.filter((place) => place !== undefined);
  return known.every((place, index) => index === 0 || place > known[index - 1]!);
};

/** Finds the header's fields by name. If their order has changed, the names must be unique. */
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

export const usualNames = (): string => reasonNames([]).join(', ');
