// Which of the columns that identify every record are declared as the primary key.

import type { ColumnEvidence } from './column-evidence.ts';
import type { Decision } from './contract.ts';
import { decideColumn, onlyValue } from './decide.ts';

/** Fewer records are unique by accident. */
const recordsMin = 20;

/** Places at which any column may be part of a key; others must have a name or a type for it. */
const placesMax = 4;

const keyNames = /(?:^|[^a-z])(?:id|key|code|no|nr|num|number|uuid|guid)s?(?:$|[^a-z])|Id$|ID$|Code$|Key$/i;
const keyTypes = new Set(['date', 'time', 'timestamp', 'uuid']);
const possibleTypes = new Set([...keyTypes, 'text', 'smallint', 'integer', 'bigint']);

const mayBeInKey = ({ type, isOneToOne, missing, values }: Decision, name: string, place: number): boolean =>
  missing === 0 &&
  values > 0 &&
  isOneToOne &&
  possibleTypes.has(type) &&
  (keyTypes.has(type) || place < placesMax || keyNames.test(name));

/** Columns of which a key may be made, by what was seen so far: those that are called so come first. */
export const keyColumns = (
  columns: readonly ColumnEvidence[],
  names: readonly string[],
): readonly number[] => {
  const possible = columns.flatMap((column, place) => {
    const name = names[place]!;
    return mayBeInKey(decideColumn(column, name), name, place) ? [place] : [];
  });
  const isNamed = (place: number): boolean => keyNames.test(names[place]!);
  return [...possible.filter(isNamed), ...possible.filter((place) => !isNamed(place))];
};

/**
 * The key among those that were proved; undefined: none. A first column that never changes is part of it: files of other stations,
 * shops or countries will follow.
 */
export const chooseKey = (
  found: readonly (readonly number[])[],
  columns: readonly ColumnEvidence[],
  names: readonly string[],
  records: number,
): readonly number[] | undefined => {
  if (records < recordsMin) return undefined;
  const possible = keyColumns(columns, names);
  const key = found.find((places) => places.every((place) => possible.includes(place)));
  if (key === undefined) return undefined;
  const inOrder = key.toSorted((one, other) => one - other);
  if (key.includes(0)) return inOrder;
  return possible.includes(0) && onlyValue(columns[0]!) !== undefined ? [0, ...inOrder] : inOrder;
};
