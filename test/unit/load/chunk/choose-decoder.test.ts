// Which decoder a dialect gets, and what `etl plan` says of records that are slower.

import { expect, it } from 'vitest';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { chooseDecoder } from '../../../../src/load/chunk/file-reader.ts';
import { tableOf } from '../../format/records/reading.ts';

it.each<[CsvOptions, string?]>([
  [{}],
  [{ trim: 'outside', ragged: 'cut', comment: '#', comments: 'infix', lineEnd: 'lf', escape: null }],
  [{ delimiter: '\t', quote: null }],
  [{ quotedNulls: false, nulls: ['', 'NA'], trim: true }],
  [{ delimiter: '||' }, 'records with quotes are found byte by byte'],
  [{ lineEnd: 'cr' }, "records between line ends 'cr' are found byte by byte"],
  [{ quotes: 'lenient' }, 'records with quotes that only lenient reading takes are read one by one'],
  [
    { escape: '\\' },
    'records with the escape \\ are read one by one and records with quotes are found byte by byte',
  ],
  [{ escapes: 'postgres', delimiter: '\t' }, 'records with another backslash than \\N are read one by one'],
  [{ escapes: 'mysql', quote: '"' }, 'records with a backslash are read one by one'],
  [{ escapes: 'any' }, 'records with a backslash are read one by one'],
])('%j: the compiled decoder; %s', (options, slow) => {
  const slowly = slow === undefined ? '' : `; ${slow}, which is slower`;
  expect(chooseDecoder(tableOf(options))).toEqual({
    decoder: 'compiled',
    why: `it supports the table’s dialect and types${slowly}`,
  });
});
