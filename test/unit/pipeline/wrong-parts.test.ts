// The exact error text of every mistake in csv(…), index(…) and filters.

import { describe, expect, it } from 'vitest';
import { csv, env, index, oneOf, present, when } from '../../../src/pipeline/authoring.ts';
import {
  columns,
  problemsOf,
  source,
  withCsv,
  withIndex,
  withTable,
  type Case,
} from './wrong-definitions.ts';

const csvCases: readonly Case[] = [
  {
    name: 'no path',
    definition: withCsv(),
    problems: [
      "table obs, csv: path is missing: it must be a path, a glob, an object such as { path: 'a/*.csv', delimiter: ';' }, or a list of them",
    ],
  },
  {
    name: 'a misspelt option',
    definition: withCsv('a.csv', { delimeter: ';' }),
    problems: ['table obs, csv: unknown key `delimeter`; did you mean `delimiter`?'],
  },
  {
    name: 'an encoding that there is not',
    definition: withCsv('a.csv', { encoding: 'latin11' }),
    problems: ['table obs, csv: encoding does not know "latin11"; did you mean "latin1"?'],
  },
  {
    name: 'an encoding that is no text',
    definition: withCsv('a.csv', { encoding: 1252 }),
    problems: ["table obs, csv: encoding must be the label of an encoding, or 'detect', not 1252"],
  },
  {
    name: 'a ratio and a number of bytes that no file has',
    definition: withCsv('a.csv', { maxRatio: 0, maxBytes: 1.5 }),
    problems: [
      'table obs, csv: maxRatio must be at least 1, not 0',
      'table obs, csv: maxBytes must be a number of bytes, not 1.5',
    ],
  },
  {
    name: 'an empty delimiter',
    definition: withCsv('a.csv', { delimiter: '' }),
    problems: ["table obs, csv: delimiter must be at least one character, without line breaks, not ''"],
  },
  {
    name: 'a quote of two characters',
    definition: withCsv('a.csv', { quote: '""' }),
    problems: ['table obs, csv: quote must be one ASCII character other than a line break, not \'""\''],
  },
  {
    name: 'delimiter and quote alike',
    definition: withCsv('a.csv', { delimiter: '"' }),
    problems: ['table obs, csv: delimiter and quote must differ'],
  },
  ...[
    {
      options: { delimiter: '#|', comment: '#' },
      problem: 'comment and delimiter must differ: a record whose first field is empty would be a comment',
    },
    {
      options: { delimiter: '#', comment: '#|' },
      problem: 'comment and delimiter must differ: a record whose first field is empty would be a comment',
    },
    {
      options: { comment: '"#' },
      problem: 'comment and quote must differ: a record whose first field is quoted would be a comment',
    },
    {
      options: { delimiter: '|\\', escape: '\\' },
      problem: 'delimiter and escape must differ: within quotes, an escape would begin in a delimiter',
    },
    {
      options: { delimiter: ';', escape: ';' },
      problem: 'delimiter and escape must differ: within quotes, an escape would begin in a delimiter',
    },
    {
      options: { quote: null, quotes: 'lenient' },
      problem: "quotes: 'lenient' has no meaning without a quote; leave it out",
    },
    {
      options: { comments: 'infix' },
      problem: "comments: 'infix' has no meaning without a comment; give one, such as comment: '#'",
    },
    {
      options: { quote: null, quotedNulls: false },
      problem: 'quotedNulls has no meaning without a quote; leave it out',
    },
    {
      options: { trim: 'inside' },
      problem: "trim must be true, false or 'outside', not 'inside'",
    },
    {
      options: { lineEnd: '\n' },
      problem: "lineEnd must be one of 'auto', 'lf', 'crlf', 'cr', not '\\n'",
    },
    { options: { trim: true, quote: ' ' }, problem: 'quote cannot be a blank with trim' },
    { options: { trim: true, escape: '\t' }, problem: 'escape cannot be a blank with trim' },
    { options: { trim: true, comment: ' #' }, problem: 'comment cannot begin with a blank with trim' },
    {
      options: { trim: true, nulls: ['', ' NA'] },
      problem: 'nulls has " NA", which no trimmed field matches; leave out the blanks around it',
    },
  ].map(({ options, problem }) => ({
    name: `what takes records or values for something else: ${JSON.stringify(options)}`,
    definition: withCsv('a.csv', options),
    problems: [`table obs, csv: ${problem}`],
  })),
  {
    name: 'a line break as delimiter, on one line',
    definition: withCsv('a.csv', { delimiter: '\n' }),
    problems: ["table obs, csv: delimiter must be at least one character, without line breaks, not '\\n'"],
  },
  {
    name: 'an escape without quotes',
    definition: withCsv('a.csv', { quote: null, escape: '\\' }),
    problems: ['table obs, csv: escape has no meaning without a quote; leave it out'],
  },
  {
    name: 'no header line, and columns by name',
    definition: withCsv('a.csv', { header: false }),
    problems: ['wban', 'wind'].map(
      (name) =>
        `table obs, column ${name}: csv(…, { header: false }) has no names; use the position of the field, from 1`,
    ),
  },
  {
    name: 'a text as header',
    definition: withCsv('a.csv', { header: 'WBAN' }),
    problems: ["table obs, csv: header must be true, false, or the list of all field names, not 'WBAN'"],
  },
  {
    name: 'a name twice in the given header',
    definition: withCsv('a.csv', { header: ['WBAN', 'Wind', 'WBAN'] }),
    problems: ['table obs, csv: header names "WBAN" twice; every field needs its own name'],
  },
  {
    name: 'a given header of which two names are one when relaxed',
    definition: withCsv('a.csv', { header: ['wban', 'Wind', 'WBAN'], match: 'relaxed' }),
    problems: [
      'table obs, column wban: csv(…, { header: […] }) has two fields that match `WBAN`, at positions 1 and 3',
    ],
  },
  ...(['merge', 'history'] as const).map((mode) => ({
    name: `a field of \`deleted\` that the given header lacks, with ${mode}`,
    definition: withTable({
      source: csv('a.csv', { header: ['WBAN', 'Wind'] }),
      columns,
      primaryKey: ['wban'],
      publish: { mode, deleted: present('Gone') },
    }),
    problems: ['table obs, publish.deleted: csv(…, { header: […] }) has no field `Gone`; known: WBAN, Wind'],
  })),
  {
    name: 'a constant that nobody names',
    definition: withCsv([{ path: 'a.csv', constants: { regoin: 'a' } }], {}),
    problems: ['table obs, csv: the constant `regoin` of a.csv is named by no column and no filter'],
  },
  {
    name: 'a constant that is no text',
    definition: withCsv([{ path: 'a.csv', constants: { WBAN: null } }], {}),
    problems: ['table obs, csv, path 1: constants.WBAN must be a text or a number, not null'],
  },
  {
    name: 'a location twice, with constants',
    definition: withCsv(['a.csv', { path: 'a.csv', constants: { WBAN: 1 } }], {}),
    problems: ['table obs, csv: names "a.csv" twice, with different options'],
  },
  {
    name: 'a location twice, with what csv() says',
    definition: withCsv(['a.csv', { path: 'a.csv', encoding: 'utf-8', delimiter: ',' }], {}),
    problems: [],
  },
  {
    name: 'options of locations that are misspelt, wrong, and for other places',
    definition: withCsv(
      [
        'b.csv',
        { path: 'a.csv', encoding: 'latin11', delimeter: ';' },
        { path: 'c.csv', quote: '""', bearer: env('TOKEN') },
        { path: 'https://h/d.csv', bearer: env('TOKEN'), region: 'eu-1' },
      ],
      {},
    ),
    problems: [
      'table obs, csv, path 2: encoding does not know "latin11"; did you mean "latin1"?',
      'table obs, csv, path 2: unknown key `delimeter`; did you mean `delimiter`?',
      'table obs, csv, path 3: bearer is only for http, and no location is one',
      'table obs, csv, path 3: quote must be one ASCII character other than a line break, not \'""\'',
      'table obs, csv, path 4: region is only for s3, and no location is one',
    ],
  },
  {
    name: 'options of a location that exclude each other, or those of csv()',
    definition: withCsv(
      [
        { path: 'a.csv', delimiter: ';' },
        { path: 'b.csv', quote: ';' },
      ],
      { delimiter: ';' },
    ),
    problems: ['table obs, csv, path 2: delimiter and quote must differ'],
  },
  {
    name: 'options of what is left out',
    definition: withCsv(['a.csv', { path: '!b.csv', delimiter: ';' }], {}),
    problems: ['table obs, csv, path 2: excludes files, so it cannot have options; write the path alone'],
  },
  {
    name: 'fields that the header of a location does not name',
    definition: withCsv(['a.csv', { path: 'b.csv', header: ['WBAN', 'Date'] }], {}),
    problems: ['table obs, column wind: b.csv ({ header: […] }) has no field `Wind`; known: WBAN, Date'],
  },
  {
    name: 'escapes of the text format with a quote',
    definition: withCsv('a.csv', { escapes: 'postgres', quote: '"', escape: '\\', trim: true }),
    problems: [
      "table obs, csv: quote has no meaning with escapes: 'postgres', whose text format has none; leave it out",
      'table obs, csv: escape and escapes exclude each other; leave escape out',
      'table obs, csv: trim has no meaning with escapes, whose blanks are data; leave it out',
    ],
  },
  {
    name: 'a backslash between fields that has another meaning',
    definition: withCsv('a.csv', { escapes: 'mysql', delimiter: '\\', quotes: 'lenient', quote: "'" }),
    problems: [
      'table obs, csv: with escapes, neither delimiter nor quote nor comment can have a backslash',
      "table obs, csv: quotes: 'lenient' is not read with escapes; leave it out",
    ],
  },
  {
    name: 'another way with ragged records',
    definition: withCsv('a.csv', { ragged: 'fill' }),
    problems: ["table obs, csv: ragged must be one of 'reject', 'pad', 'cut', not 'fill'"],
  },
  {
    name: 'several header lines without a header',
    definition: withCsv('a.csv', { header: ['WBAN', 'Wind'], headerLines: 2 }),
    problems: ['table obs, csv: headerLines has no meaning unless the file has a header; leave it out'],
  },
  {
    name: 'a trailer that is most of the file',
    definition: withCsv('a.csv', { skipEnd: 1_000 }),
    problems: ['table obs, csv: skipEnd must be at most 100 lines, not 1000'],
  },
  {
    name: 'half a line skipped',
    definition: withCsv('a.csv', { skipLines: 0.5 }),
    problems: ['table obs, csv: skipLines must be a number of lines, not 0.5'],
  },
  {
    name: 'null tokens that are a text',
    definition: withCsv('a.csv', { nulls: 'M' }),
    problems: ["table obs, csv: nulls must be a list of texts, not 'M'"],
  },
];

const indexCases: readonly Case[] = [
  {
    name: 'a text instead of an index',
    definition: withTable({ source, columns, indexes: ['wban'] }),
    problems: ["table obs, index 1: must be made with index('column'), or index(['column', …])"],
  },
  {
    name: 'a column that does not exist',
    definition: withIndex('winds'),
    problems: ['table obs, index obs_winds_idx: `winds` is not a column of the table; did you mean `wind`?'],
  },
  {
    name: 'an included column that does not exist',
    definition: withIndex('wban', { include: ['winds'] }),
    problems: ['table obs, index obs_wban_idx: `winds` is not a column of the table; did you mean `wind`?'],
  },
  {
    name: 'an access method that is not known',
    definition: withIndex('wban', { using: 'btre' }),
    problems: [
      "table obs, index 1: using must be one of 'btree', 'brin', 'hash', 'gin', 'gist', 'spgist', not 'btre'",
    ],
  },
  {
    name: 'a misspelt option',
    definition: withIndex('wban', { uniqe: true }),
    problems: ['table obs, index 1: unknown key `uniqe`; did you mean `unique`?'],
  },
  {
    name: 'a unique index that cannot be',
    definition: withIndex('wban', { using: 'brin', unique: true }),
    problems: ['table obs, index 1: a brin index cannot be unique; only btree can'],
  },
  {
    name: 'a name that is not plain',
    definition: withIndex('wban', { name: 'Obs-1' }),
    problems: [
      'table obs, index 1: name `Obs-1` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `obs_1`',
    ],
  },
  {
    name: 'two of the same name',
    definition: withTable({
      source,
      columns,
      indexes: [index('wban'), index('wban', { using: 'brin' })],
    }),
    problems: [
      "table obs, index obs_wban_idx: the name is taken by an index of table obs; give another with { name: '…' }",
    ],
  },
  {
    name: 'the name of a table',
    definition: withIndex('wban', { name: 'obs' }),
    problems: ["table obs, index obs: the name is taken by table obs; give another with { name: '…' }"],
  },
  {
    name: 'indexes that are no list',
    definition: withTable({ source, columns, indexes: index('wban') }),
    problems: ["table obs: indexes must be a list of index('column'), not an object"],
  },
];

const filterCases: readonly Case[] = [
  {
    name: 'a function instead of a filter',
    definition: withTable({ source, columns, filter: () => true }),
    problems: [
      'table obs: filter[0] must be present(…), oneOf(…), when(…), or a list of them, not a function',
    ],
  },
  {
    name: 'present without a header',
    definition: withTable({ source, columns, filter: present('') }),
    problems: [
      "table obs: filter[0].header must be a header name, a position from 1, { from: ['name', 'other name'] }, or path(/pattern/), not ''",
    ],
  },
  {
    name: 'oneOf without values',
    definition: withTable({ source, columns, filter: [oneOf('A', [])] }),
    problems: ['table obs: filter[0].values must be a list of texts, not an empty list'],
  },
  {
    name: 'when without headers',
    definition: withTable({ source, columns, filter: when(() => true, []) }),
    problems: ['table obs: filter[0].headers must be a list of fields, not an empty list'],
  },
];

describe.each([
  ['csv', csvCases],
  ['index', indexCases],
  ['filter', filterCases],
])('a wrong %s', (_, cases) => {
  it.each(cases)('$name', ({ definition, problems }) => expect(problemsOf(definition)).toEqual(problems));
});
