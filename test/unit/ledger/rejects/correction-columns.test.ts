// Columns of a CSV of corrections are found by name, even if some were moved, dropped or added.

import { expect, it } from 'vitest';
import { correctionColumns, fieldPlaces } from '../../../../src/ledger/rejects/correction-columns.ts';
import { reasonNames } from '../../../../src/ledger/rejects/reject-export.ts';

/** Returns the indexes of the file's fields, after the export's seven columns; or the problem. */
const found = (header: readonly string[], names: readonly string[]): unknown => {
  const columns = correctionColumns([...reasonNames(header), ...names]);
  if ('problem' in columns) return columns.problem;
  const places = fieldPlaces(columns, header);
  if ('problem' in places) return places.problem;
  return [
    places.fields.map((place) => (place === undefined ? place : place - 7)),
    places.blank.map((place) => place - 7),
  ];
};

it.each([
  { of: 'as written', header: ['a', 'b'], names: ['a', 'b'], is: [[0, 1], []] },
  { of: 'in another order', header: ['a', '', 'b'], names: ['b', 'a', ''], is: [[1, 2, 0], []] },
  { of: 'a name twice', header: ['a', 'a', 'b'], names: ['a', 'a', 'b'], is: [[0, 1, 2], []] },
  {
    of: 'a name twice, in another order',
    header: ['a', 'a', 'b'],
    names: ['b', 'a', 'a'],
    is: 'its columns are in another order, and two of them have the name "a"',
  },
  {
    of: 'without the empty ones at the end',
    header: ['a', '', ''],
    names: ['a'],
    is: [[0, undefined, undefined], []],
  },
  {
    of: 'with more empty ones at the end',
    header: ['a', ''],
    names: ['a', '', '', ''],
    is: [
      [0, 1],
      [2, 3],
    ],
  },
  {
    of: 'without one in the middle',
    header: ['a', '', 'b'],
    names: ['a', 'b'],
    is: 'it has no column for field 2',
  },
  { of: 'without one', header: ['a', 'b'], names: ['a'], is: 'it has no column "b"' },
  { of: 'with another', header: ['a'], names: ['a', 'x'], is: 'its column "x" is not one of the file' },
  { of: 'of a file that is an export', header: ['_run', 'id'], names: ['_run', 'id'], is: [[0, 1], []] },
])('$of', ({ header, names, is }) => expect(found(header, names)).toEqual(is));
