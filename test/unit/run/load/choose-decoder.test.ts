// Which decoder a dialect gets, and what `etl run --explain` says of records that are slower.

import { expect, it } from 'vitest';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { chooseDecoder } from '../../../../src/run/load/table-load.ts';
import { tableOf } from '../../format/reading.ts';

it.each<[CsvOptions, string?]>([
  [{}],
  [{ delimiter: '||', trim: 'outside', ragged: 'cut', comment: '#', lineEnd: 'cr' }],
  [{ quotedNulls: false, nulls: ['', 'NA'], trim: true }],
  [{ quotes: 'lenient' }, 'quotes that only lenient reading takes'],
  [{ escape: '\\' }, 'the escape \\'],
  [{ escapes: 'postgres', delimiter: '\t' }, 'another backslash than \\N'],
  [{ escapes: 'mysql', quote: '"' }, 'a backslash'],
  [{ escapes: 'any' }, 'a backslash'],
])('%j: the compiled decoder, records with $1 are slower', (options, slow) => {
  const slowly = slow === undefined ? '' : `; records with ${slow} are read one by one, which is slower`;
  expect(chooseDecoder(tableOf(options))).toEqual({
    decoder: 'compiled',
    why: `it supports the table’s dialect and types${slowly}`,
  });
});
