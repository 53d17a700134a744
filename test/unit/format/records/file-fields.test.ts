// Which field of a file a declared name matches, and which value both decoders read.

import { describe, expect, it } from 'vitest';
import type { FieldRef } from '../../../../src/core/declaration/declaration.ts';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { createSplitter } from '../../../../src/format/split/splitter.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { oneOf, present, when } from '../../../../src/pipeline/declare/filter.ts';
import { binaryRecordDecoder, outcomeOf } from './both-decoders.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { blocksOf, decodeBlocks, decodedFile, tableOf } from './reading.ts';

const places = (header: readonly string[], ref: FieldRef, match: 'exact' | 'relaxed' = 'exact') =>
  fieldsOf(decodedFile(header), { match, trim: false }).indexesOf(ref);

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
    constants?: Readonly<Record<string, string>>;
    path?: string;
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
    {
      name: 'constants and parts of the path, alone and glued to fields and to each other',
      header: ['t', 'x'],
      constants: { region: 'né', n: '7' },
      path: 'in/2011-01-31/né.csv',
      columns: {
        region: column.text('region'),
        n: column.integer('n'),
        day: column.date({ path: /(\d{4}-\d\d-\d\d)/ }),
        at: column.timestamp([{ path: /\d{4}-\d\d-\d\d/ }, 't'], { format: 'YYYY-MM-DDHHmm' }),
        both: column.text(['region', { path: /\/(.{2})\.csv/ }]),
        mixed: column.text(['x', 'region']).map((text) => `${text}!`),
        x: column.text('x'),
      },
      filter: [oneOf('region', ['né']), when(({ n }) => n === '7', ['n', 'x'])],
      input: '0053,a\n"0054","b""c"\n0055,é\n',
      rows: [
        ['né', '7', '2011-01-31', '2011-01-31T00:53:00', 'néné', 'ané!', 'a'],
        ['né', '7', '2011-01-31', '2011-01-31T00:54:00', 'néné', 'b"cné!', 'b"c'],
        ['né', '7', '2011-01-31', '2011-01-31T00:55:00', 'néné', 'éné!', 'é'],
      ],
    },
    {
      name: 'constants with blanks, null tokens, tokens and functions',
      header: ['x'],
      options: { trim: 'outside', nulls: ['', 'M'] },
      constants: { a: ' 5 ', b: 'M', c: 'T', d: 'abc' },
      columns: {
        a: column.integer('a'),
        b: column.text('b').default('none'),
        c: column.integer('c').tokens({ T: '0' }),
        d: column.text('d').map((text) => text.toUpperCase()),
        e: column.text(['a', 'b']).nullable(),
        f: column.text(['x', 'a']),
      },
      input: '1\n "2" \n 3\n',
      rows: [
        ['5', 'none', '0', 'ABC', null, '15'],
        ['5', 'none', '0', 'ABC', null, '25'],
        ['5', 'none', '0', 'ABC', null, '35'],
      ],
    },
    {
      name: 'missing fields as defaults and nulls, also when one of several that are glued is missing',
      header: ['x'],
      columns: {
        x: column.text('x'),
        a: column.integer('a').default(3),
        b: column.date('b').nullable(),
        c: column.text(['x', 'c']).nullable(),
        d: column
          .text(9)
          .nullable()
          .map((text) => `${text}!`),
      },
      filter: when(({ a }) => a === null, ['a']),
      input: '1\n2\n',
      rows: [
        ['1', '3', null, null, null],
        ['2', '3', null, null, null],
      ],
    },
  ];
  it.each(cases)(
    '$name',
    async ({ header, columns, options = {}, filter, constants = {}, path = 'f', input, rows }) => {
      const table = tableOf(options, { columns, ...(filter === undefined ? {} : { filter }) });
      const file = decodedFile(header, 'lf', path, constants);
      const split = createSplitter(table.format.dialect, header.length, 'lf');
      const blocks = await blocksOf([Buffer.from(input)], split);
      const textOf = (decode: Decoder) =>
        Buffer.concat(decodeBlocks(blocks, decode).map(({ copyBytes }) => copyBytes)).toString();
      const expected = rows.map((row) => `${row.map((value) => value ?? '\\N').join('\t')}\n`).join('');
      expect(textOf(createRecordDecoder(table, file, encodeTextRow))).toBe(expected);
      expect(textOf(createCompiledDecoder(table, file, encodeTextRow))).toBe(expected);
      expect(outcomeOf(blocks, createCompiledDecoder(table, file))).toEqual(
        outcomeOf(blocks, binaryRecordDecoder(table, file)),
      );
    },
  );
});
