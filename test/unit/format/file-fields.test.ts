// Which field of a file a declared name means, and what both decoders make of it.

import { describe, expect, it } from 'vitest';
import type { FieldRef } from '../../../src/declaration.ts';
import { encodeTextRow } from '../../../src/copy/encode-text.ts';
import { createCompiledDecoder } from '../../../src/format/compiled/compiled-decoder.ts';
import { fieldsOf } from '../../../src/format/file-fields.ts';
import { createSplitter } from '../../../src/format/split/splitter.ts';
import { column } from '../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../src/pipeline/declare/csv.ts';
import { oneOf, present, when } from '../../../src/pipeline/declare/filter.ts';
import { decode } from './decoding.ts';
import { blocksOf, decodeBlocks, decodedFile, tableOf } from './reading.ts';

const places = (header: readonly string[], ref: FieldRef, match: 'exact' | 'relaxed' = 'exact') =>
  fieldsOf(header, { match }).placesOf(ref);

describe('a field is found', () => {
  it.each<{
    name: string;
    header: readonly string[];
    ref: FieldRef;
    match?: 'relaxed';
    found: readonly number[];
  }>([
    { name: 'by its exact name', header: ['A', 'a', ' a'], ref: 'a', found: [1] },
    { name: 'not by another case, unless relaxed', header: ['A'], ref: 'a', found: [] },
    { name: 'relaxed: case', header: ['x', 'WBAN'], ref: 'wban', match: 'relaxed', found: [1] },
    {
      name: 'relaxed: blanks and underscores',
      header: ['Start  Time'],
      ref: 'start_time',
      match: 'relaxed',
      found: [0],
    },
    {
      name: 'relaxed: a no-break space and a line break',
      header: ['Start\u00a0\nTime'],
      ref: 'StartTime',
      match: 'relaxed',
      found: [0],
    },
    {
      name: 'relaxed: accents, composed or not',
      header: ['Größe', 'pre\u0301nom'],
      ref: 'Prénom',
      match: 'relaxed',
      found: [1],
    },
    { name: 'relaxed: İ and i', header: ['İl'], ref: 'il', match: 'relaxed', found: [0] },
    { name: 'relaxed: ς and Σ', header: ['ΟΔΟΣ'], ref: 'οδος', match: 'relaxed', found: [0] },
    { name: 'relaxed: other signs count', header: ['a-b', 'a.b'], ref: 'a b', match: 'relaxed', found: [] },
    {
      name: 'relaxed: a name of only underscores',
      header: ['', '_'],
      ref: '_',
      match: 'relaxed',
      found: [1],
    },
    { name: 'twice', header: ['a', 'b', 'a'], ref: 'a', found: [0, 2] },
    { name: 'by its number among those of a name', header: ['a', 'b', 'a'], ref: 'a#2', found: [2] },
    { name: 'by its number, the first one', header: ['a', 'b', 'a'], ref: 'a#1', found: [0] },
    { name: 'not by a number that there is not', header: ['a', 'a'], ref: 'a#3', found: [] },
    { name: 'not by number 0', header: ['a', 'a'], ref: 'a#0', found: [] },
    { name: 'by a name that looks numbered', header: ['a', 'a#2', 'a'], ref: 'a#2', found: [1] },
    { name: 'relaxed: by its number', header: ['A b', 'a_B'], ref: 'AB#2', match: 'relaxed', found: [1] },
    { name: 'by one of several names', header: ['x', 'new'], ref: { from: ['old', 'new'] }, found: [1] },
    {
      name: 'by two names of one column',
      header: ['new', 'old'],
      ref: { from: ['old', 'new'] },
      found: [1, 0],
    },
    {
      name: 'once, where several names are one when relaxed',
      header: ['Old'],
      ref: { from: ['old', 'OLD'] },
      match: 'relaxed',
      found: [0],
    },
    { name: 'by its position, from 1', header: ['a', '', 'c'], ref: 3, found: [2] },
    { name: 'by its position, without a name', header: ['a', '', ''], ref: 2, found: [1] },
    { name: 'not by a position that there is not', header: ['a'], ref: 2, found: [] },
    { name: 'never by the name of a property', header: ['a'], ref: '__proto__', found: [] },
  ])('$name', ({ header, ref, match, found }) => {
    expect(places(header, ref, match)).toEqual(found);
  });
});

describe('both decoders read', () => {
  const cases: readonly {
    name: string;
    header: readonly string[];
    columns: object;
    options?: CsvOptions;
    filter?: unknown;
    input: string;
    rows: readonly (readonly (string | null)[])[];
  }[] = [
    {
      name: 'relaxed names, glued, and one field twice',
      header: ['x', 'DATE', 'the time'],
      options: { match: 'relaxed' },
      columns: {
        at: column.timestamp(['Date', 'The_Time'], { format: 'YYYYMMDDHHmm' }),
        time: column.text('THE TIME'),
      },
      filter: oneOf('X', ['1']),
      input: '1,20110131,0053\n2,20110131,0054\n',
      rows: [['2011-01-31T00:53:00', '0053']],
    },
    {
      name: 'one of several names, and a name by number',
      header: ['started_at', 'n', 'n'],
      columns: { at: column.date({ from: ['Start Time', 'started_at'] }), n: column.integer('n#2') },
      input: '2011-01-31,a,2\n',
      rows: [['2011-01-31', '2']],
    },
    {
      name: 'positions, also glued and in filters',
      header: ['', '', ''],
      options: { header: false },
      columns: { at: column.timestamp([2, 1], { format: 'YYYYMMDDHHmm' }), b: column.text(3).nullable() },
      filter: [
        present(1),
        oneOf(3, ['x', 'y']),
        when((fields) => fields[2] === '20110131' && fields[3] !== 'y', [2, 3]),
      ],
      input: '0053,20110131,x\n0054,20110131,y\n0055,20110131,z\n,20110131,x\n0056,20110201,x\n',
      rows: [['2011-01-31T00:53:00', 'x']],
    },
    {
      name: 'filters by one of several names',
      header: ['new', 'b'],
      columns: { b: column.text('b') },
      filter: [
        oneOf({ from: ['old', 'new'] }, ['1', '2']),
        when(({ old }) => old === '2', [{ from: ['old', 'new'] }]),
      ],
      input: '1,a\n2,b\n',
      rows: [['b']],
    },
  ];
  it.each(cases)('$name', async ({ header, columns, options = {}, filter, input, rows }) => {
    const declared = { header, columns, options, ...(filter === undefined ? {} : { filter }) };
    expect((await decode(input, declared)).rows).toEqual(rows);
    const table = tableOf(options, { columns, ...(filter === undefined ? {} : { filter }) });
    const split = createSplitter(table.format.dialect, header.length, 'lf');
    const blocks = await blocksOf([Buffer.from(input)], split);
    const decoded = decodeBlocks(blocks, createCompiledDecoder(table, decodedFile(header), encodeTextRow));
    expect(Buffer.concat(decoded.map(({ copyBytes }) => copyBytes)).toString()).toBe(
      rows.map((row) => `${row.map((value) => value ?? '\\N').join('\t')}\n`).join(''),
    );
  });
});
