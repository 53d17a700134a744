// Chooses the primary key among the sets of columns that identify every record.

import type { ColumnEvidence } from './column-evidence.ts';
import type { Decision } from './contract.ts';
import { decideColumn, onlyValue } from './decide.ts';

/** With fewer records, columns may be unique by coincidence. */
const recordsMin = 20;

/** The first four columns can be in a key. Later columns need a name or type like a key's. */
const placesMax = 4;

const keyNames = /(?:^|[^a-z])(?:id|key|code|no|nr|num|number|uuid|guid)s?(?:$|[^a-z])|Id$|ID$|Code$|Key$/i;
const keyTypes = new Set(['date', 'time', 'timestamp', 'uuid']);
const possibleTypes = new Set([...keyTypes, 'text', 'smallint', 'integer', 'bigint']);

const mayBeInKey = ({ type, isOneToOne, missing, values }: Decision, name: string, index: number): boolean =>
  missing === 0 &&
  values > 0 &&
  isOneToOne &&
  possibleTypes.has(type) &&
  (keyTypes.has(type) || index < placesMax || keyNames.test(name));

export const keyColumns = (
  columns: readonly ColumnEvidence[],
  names: readonly string[],
): readonly number[] => {
  const possible = columns.flatMap((column, index) => {
    const name = names[index]!;
    return mayBeInKey(decideColumn(column, name), name, index) ? [index] : [];
  });
  const isNamed = (index: number): boolean => keyNames.test(names[index]!);
  return [...possible.filter(isNamed), ...possible.filter((index) => !isNamed(index))];
};

/**
 * Returns the first of the sets `found` that is plausible as a key. If the first column is
 * constant, it is added: other files may have other stations, shops or countries.
 */
export const chooseKey = (
  found: readonly (readonly number[])[],
  columns: readonly ColumnEvidence[],
  names: readonly string[],
  records: number,
): readonly number[] | undefined => {
  if (records < recordsMin) return undefined;
  const possible = keyColumns(columns, names);
  const key = found.find((places) => places.every((index) => possible.includes(index)));
  if (key === undefined) return undefined;
  const inOrder = key.toSorted((one, other) => one - other);
  if (key.includes(0)) return inOrder;
  return possible.includes(0) && onlyValue(columns[0]!) !== undefined ? [0, ...inOrder] : inOrder;
};
