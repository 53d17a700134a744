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
  ['as written', ['a', 'b'], ['a', 'b'], [[0, 1], []]],
  ['in another order', ['a', '', 'b'], ['b', 'a', ''], [[1, 2, 0], []]],
  ['a name twice', ['a', 'a', 'b'], ['a', 'a', 'b'], [[0, 1, 2], []]],
  [
    'a name twice, in another order',
    ['a', 'a', 'b'],
    ['b', 'a', 'a'],
    'its columns are in another order, and two of them have the name "a"',
  ],
  ['without the empty ones at the end', ['a', '', ''], ['a'], [[0, undefined, undefined], []]],
  [
    'with more empty ones at the end',
    ['a', ''],
    ['a', '', '', ''],
    [
      [0, 1],
      [2, 3],
    ],
  ],
  ['without one in the middle', ['a', '', 'b'], ['a', 'b'], 'it has no column for field 2'],
  ['without one', ['a', 'b'], ['a'], 'it has no column "b"'],
  ['with another', ['a'], ['a', 'x'], 'its column "x" is not one of the file'],
  ['of a file that is an export', ['_run', 'id'], ['_run', 'id'], [[0, 1], []]],
])('%s', (_, header, names, is) => expect(found(header, names)).toEqual(is));
