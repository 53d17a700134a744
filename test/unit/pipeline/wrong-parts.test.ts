// The exact error text of every mistake in csv(…), index(…) and filters.

import { expect, it } from 'vitest';
import { csv, env, index, oneOf, present, when } from '../../../src/pipeline/authoring.ts';
import {
  columns,
  define,
  describeMistakes,
  withCsv,
  withIndex,
  withKeys,
  withTable,
} from './wrong-definitions.ts';

const withOptions = (options: object) => withCsv('a.csv', options);

describeMistakes('a wrong option of csv', withOptions, 'table obs, csv: ', [
  [{ delimeter: ';' }, 'unknown key `delimeter`; did you mean `delimiter`?'],
  [{ encoding: 'latin11' }, 'encoding does not know "latin11"; did you mean "latin1"?'],
  [{ encoding: 1252 }, "encoding must be the label of an encoding, or 'detect', not 1252"],
  [
    { maxRatio: 0, maxBytes: 1.5 },
    'maxRatio must be at least 1, not 0',
    'maxBytes must be a number of bytes, not 1.5',
  ],
  [
    { settle: -1, ready: 'done', lastLine: 'none', onBadFile: 'ignore' },
    'settle must be a number of seconds from 0 to 600, not -1',
    "ready must be the ending of a file name, such as '.done', not 'done'",
    "lastLine must be one of 'any', 'complete', not 'none'",
    "onBadFile must be one of 'stop', 'skip', not 'ignore'",
  ],
  [{ delimiter: '' }, "delimiter must be at least one character, without line breaks, not ''"],
  [{ quote: '""' }, 'quote must be one ASCII character other than a line break, not \'""\''],
  [{ delimiter: '"' }, 'delimiter and quote must differ'],
  [{ delimiter: '\n' }, "delimiter must be at least one character, without line breaks, not '\\n'"],
  [{ quote: null, escape: '\\' }, 'escape has no meaning without a quote; leave it out'],
  [{ header: 'WBAN' }, "header must be true, false, or the list of all field names, not 'WBAN'"],
  [{ header: ['WBAN', 'Wind', 'WBAN'] }, 'header names "WBAN" twice; every field needs its own name'],
  [
    { escapes: 'postgres', quote: '"', escape: '\\', trim: true },
    "quote has no meaning with escapes: 'postgres', whose text format has none; leave it out",
    'escape and escapes exclude each other; leave escape out',
    'trim has no meaning with escapes, whose blanks are data; leave it out',
  ],
  [
    { escapes: 'mysql', delimiter: '\\', quotes: 'lenient', quote: "'" },
    'with escapes, neither delimiter nor quote nor comment can have a backslash',
    "quotes: 'lenient' is not read with escapes; leave it out",
  ],
  [{ ragged: 'fill' }, "ragged must be one of 'reject', 'pad', 'cut', not 'fill'"],
  [
    { header: ['WBAN', 'Wind'], headerLines: 2 },
    'headerLines has no meaning unless the file has a header; leave it out',
  ],
  [{ skipEnd: 1_000 }, 'skipEnd must be at most 100 lines, not 1000'],
  [{ skipLines: 0.5 }, 'skipLines must be a number of lines, not 0.5'],
  [{ nulls: 'M' }, "nulls must be a list of texts, not 'M'"],
  [
    { delimiter: '#|', comment: '#' },
    'comment and delimiter must differ: a record whose first field is empty would be a comment',
  ],
  [
    { delimiter: '#', comment: '#|' },
    'comment and delimiter must differ: a record whose first field is empty would be a comment',
  ],
  [
    { comment: '"#' },
    'comment and quote must differ: a record whose first field is quoted would be a comment',
  ],
  [
    { delimiter: '|\\', escape: '\\' },
    'delimiter and escape must differ: within quotes, an escape would begin in a delimiter',
  ],
  [
    { delimiter: ';', escape: ';' },
    'delimiter and escape must differ: within quotes, an escape would begin in a delimiter',
  ],
  [{ quote: null, quotes: 'lenient' }, "quotes: 'lenient' has no meaning without a quote; leave it out"],
  [
    { comments: 'infix' },
    "comments: 'infix' has no meaning without a comment; give one, such as comment: '#'",
  ],
  [{ quote: null, quotedNulls: false }, 'quotedNulls has no meaning without a quote; leave it out'],
  [{ trim: 'inside' }, "trim must be true, false or 'outside', not 'inside'"],
  [{ lineEnd: '\n' }, "lineEnd must be one of 'auto', 'lf', 'crlf', 'cr', not '\\n'"],
  [{ trim: true, quote: ' ' }, 'quote cannot be a blank with trim'],
  [{ trim: true, escape: '\t' }, 'escape cannot be a blank with trim'],
  [{ trim: true, comment: ' #' }, 'comment cannot begin with a blank with trim'],
  [
    { trim: true, nulls: ['', ' NA'] },
    'nulls has " NA", which no trimmed field matches; leave out the blanks around it',
  ],
]);

describeMistakes('a wrong csv', (definition: object) => definition, 'table obs, ', [
  [
    withCsv(),
    "csv: path is missing: it must be a path, a glob, an object such as { path: 'a/*.csv', delimiter: ';' }, or a list of them",
  ],
  [
    withCsv('a.csv', { header: false }),
    ...['wban', 'wind'].map(
      (name) =>
        `column ${name}: csv(…, { header: false }) has no names; use the position of the field, from 1`,
    ),
  ],
  [
    withCsv('a.csv', { header: ['wban', 'Wind', 'WBAN'], match: 'relaxed' }),
    'column wban: csv(…, { header: […] }) has two fields that match `WBAN`, at positions 1 and 3',
  ],
  [
    withCsv([{ path: 'a.csv', constants: { regoin: 'a' } }], {}),
    'csv: the constant `regoin` of a.csv is named by no column and no filter',
  ],
  [
    withCsv([{ path: 'a.csv', constants: { WBAN: null } }], {}),
    'csv, path 1: constants.WBAN must be a text or a number, not null',
  ],
  [
    withCsv(['a.csv', { path: 'a.csv', constants: { WBAN: 1 } }], {}),
    'csv: names "a.csv" twice, with different options',
  ],
  [
    withCsv(
      [
        'b.csv',
        { path: 'a.csv', encoding: 'latin11', delimeter: ';' },
        { path: 'c.csv', quote: '""', bearer: env('TOKEN') },
        { path: 'https://h/d.csv', bearer: env('TOKEN'), region: 'eu-1' },
      ],
      {},
    ),
    'csv, path 2: encoding does not know "latin11"; did you mean "latin1"?',
    'csv, path 2: unknown key `delimeter`; did you mean `delimiter`?',
    'csv, path 3: bearer is only for http, and no location is one',
    'csv, path 3: quote must be one ASCII character other than a line break, not \'""\'',
    'csv, path 4: region is only for s3, and no location is one',
  ],
  [
    withCsv(
      [
        { path: 'a.csv', delimiter: ';' },
        { path: 'b.csv', quote: ';' },
      ],
      { delimiter: ';' },
    ),
    'csv, path 2: delimiter and quote must differ',
  ],
  [
    withCsv(['a.csv', { path: '!b.csv', delimiter: ';' }], {}),
    'csv, path 2: excludes files, so it cannot have options; write the path alone',
  ],
  [
    withCsv(['a.csv', { path: 'b.csv', header: ['WBAN', 'Date'] }], {}),
    'column wind: b.csv ({ header: […] }) has no field `Wind`; known: WBAN, Date',
  ],
  ...(['merge', 'history'] as const).map(
    (mode) =>
      [
        withTable({
          source: csv('a.csv', { header: ['WBAN', 'Wind'] }),
          columns,
          primaryKey: ['wban'],
          publish: { mode, deleted: present('Gone') },
        }),
        'publish.deleted: csv(…, { header: […] }) has no field `Gone`; known: WBAN, Wind',
      ] as const,
  ),
]);

it('a location twice, with what csv() says, is no mistake', () =>
  expect(() =>
    define(withCsv(['a.csv', { path: 'a.csv', encoding: 'utf-8', delimiter: ',' }], {})),
  ).not.toThrow());

describeMistakes('a wrong index', withIndex, 'table obs, index ', [
  [['winds'], 'obs_winds_idx: `winds` is not a column of the table; did you mean `wind`?'],
  [
    ['wban', { include: ['winds'] }],
    'obs_wban_idx: `winds` is not a column of the table; did you mean `wind`?',
  ],
  [
    ['wban', { using: 'btre' }],
    "1: using must be one of 'btree', 'brin', 'hash', 'gin', 'gist', 'spgist', not 'btre'",
  ],
  [['wban', { uniqe: true }], '1: unknown key `uniqe`; did you mean `unique`?'],
  [['wban', { using: 'brin', unique: true }], '1: a brin index cannot be unique; only btree can'],
  [['wban', { name: '' }], '1: name `` is empty; give a name'],
  [['wban', { name: 'obs' }], "obs: the name is taken by table obs; give another with { name: '…' }"],
]);

describeMistakes('a wrong filter or list of indexes', withKeys, 'table obs', [
  [{ indexes: ['wban'] }, ", index 1: must be made with index('column'), or index(['column', …])"],
  [
    { indexes: [index('wban'), index('wban', { using: 'brin' })] },
    ", index obs_wban_idx: the name is taken by an index of table obs; give another with { name: '…' }",
  ],
  [{ indexes: index('wban') }, ": indexes must be a list of index('column'), not an object"],
  [
    { filter: () => true },
    ': filter[0] must be present(…), oneOf(…), when(…), or a list of them, not a function',
  ],
  [
    { filter: present('') },
    ": filter[0].header must be a header name, a position from 1, { from: ['name', 'other name'] }, or path(/pattern/), not ''",
  ],
  [{ filter: [oneOf('A', [])] }, ': filter[0].values must be a list of texts, not an empty list'],
  [{ filter: when(() => true, []) }, ': filter[0].headers must be a list of fields, not an empty list'],
]);
