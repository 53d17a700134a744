// Which field of a file a declared name matches, and which value both decoders read.

import { describe, expect, it } from 'vitest';
import type { FieldRef } from '../../../../src/core/declaration.ts';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { oneOf, present, when } from '../../../../src/pipeline/declare/filter.ts';
import { expectSame } from './both-decoders.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { blocksOf, decodeBlocks, decodedFile, rowsOf, tableOf } from './reading.ts';

const places = (header: readonly string[], ref: FieldRef, match: 'exact' | 'relaxed' = 'exact') =>
  fieldsOf(decodedFile(header), { match, trim: false }).indexesOf(ref);

describe('a field is found', () => {
  it.each<
    [name: string, header: readonly string[], ref: FieldRef, found: readonly number[], match?: 'relaxed']
  >([
    ['by its exact name', ['A', 'a', ' a'], 'a', [1]],
    ['by its name with accents, composed or not', ['pre\u0301nom', 'Größe'], 'prénom', [0]],
    ['by its name with accents, declared decomposed', ['Größe'], 'Gro\u0308ße', [0]],
    ['not without its accents, unless relaxed', ['prénom'], 'prenom', []],
    ['not by another case, unless relaxed', ['A'], 'a', []],
    ['relaxed: case', ['x', 'WBAN'], 'wban', [1], 'relaxed'],
    ['relaxed: blanks and underscores', ['Start  Time'], 'start_time', [0], 'relaxed'],
    ['relaxed: a no-break space and a line break', ['Start\u00a0\nTime'], 'StartTime', [0], 'relaxed'],
    ['relaxed: accents, composed or not', ['Größe', 'pre\u0301nom'], 'Prénom', [1], 'relaxed'],
    ['relaxed: İ and i', ['İl'], 'il', [0], 'relaxed'],
    ['relaxed: ς and Σ', ['ΟΔΟΣ'], 'οδος', [0], 'relaxed'],
    ['relaxed: other signs count', ['a-b', 'a.b'], 'a b', [], 'relaxed'],
    ['relaxed: a name of only underscores', ['', '_'], '_', [1], 'relaxed'],
    ['twice', ['a', 'b', 'a'], 'a', [0, 2]],
    ['by its number among those of a name', ['a', 'b', 'a'], 'a#2', [2]],
    ['by its number, the first one', ['a', 'b', 'a'], 'a#1', [0]],
    ['not by a number that there is not', ['a', 'a'], 'a#3', []],
    ['not by number 0', ['a', 'a'], 'a#0', []],
    ['by a name that looks numbered', ['a', 'a#2', 'a'], 'a#2', [1]],
    ['relaxed: by its number', ['A b', 'a_B'], 'AB#2', [1], 'relaxed'],
    ['by one of several names', ['x', 'new'], { from: ['old', 'new'] }, [1]],
    ['by two names of one column', ['new', 'old'], { from: ['old', 'new'] }, [1, 0]],
    ['once, where several names are one when relaxed', ['Old'], { from: ['old', 'OLD'] }, [0], 'relaxed'],
    ['by its position, from 1', ['a', '', 'c'], 3, [2]],
    ['by its position, without a name', ['a', '', ''], 2, [1]],
    ['not by a position that there is not', ['a'], 2, []],
    ['never by the name of a property', ['a'], '__proto__', []],
  ])('%s', (_, header, ref, found, match) => expect(places(header, ref, match)).toEqual(found));
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
    /** As `rowsOf` reads them. */
    rows: readonly string[];
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
      rows: ['2011-01-31T00:53:00|0053'],
    },
    {
      name: 'one of several names, and a name by number',
      header: ['started_at', 'n', 'n'],
      columns: { at: column.date({ from: ['Start Time', 'started_at'] }), n: column.integer('n#2') },
      input: '2011-01-31,a,2\n',
      rows: ['2011-01-31|2'],
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
      rows: ['2011-01-31T00:53:00|x'],
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
      rows: ['b'],
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
        'né|7|2011-01-31|2011-01-31T00:53:00|néné|ané!|a',
        'né|7|2011-01-31|2011-01-31T00:54:00|néné|b"cné!|b"c',
        'né|7|2011-01-31|2011-01-31T00:55:00|néné|éné!|é',
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
      rows: ['5|none|0|ABC|∅|15', '5|none|0|ABC|∅|25', '5|none|0|ABC|∅|35'],
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
      rows: ['1|3|∅|∅|∅', '2|3|∅|∅|∅'],
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
      const expected = rowsOf(rows).map(encodeTextRow).join('');
      expect(textOf(createRecordDecoder(table, file, encodeTextRow))).toBe(expected);
      expect(textOf(createCompiledDecoder(table, file, encodeTextRow))).toBe(expected);
      await expectSame(blocks, table, file);
    },
  );
});
