// Every mistake in a declaration: what it says, exactly.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  column,
  csv,
  definePipeline,
  index,
  oneOf,
  present,
  sqlFile,
  when,
} from '../../../src/pipeline/authoring.ts';
import { EtlError } from '../../../src/errors.ts';

// Plain JavaScript can write anything; the compiler must not stop these tests.
const define = definePipeline as (definition: unknown) => unknown;
const js = column as unknown as Record<string, (...args: unknown[]) => unknown>;
const looseCsv = csv as (...args: unknown[]) => unknown;
const looseIndex = index as (...args: unknown[]) => unknown;

const columns = { wban: column.text('WBAN'), wind: column.smallint('Wind').nullable() };
const source = csv('a.csv');
const sql = sqlFile('a.sql');

const problemsOf = (definition: unknown): string[] => {
  try {
    define(definition);
  } catch (error) {
    expect(error).toBeInstanceOf(EtlError);
    expect((error as EtlError).code).toBe('ETL_DEFINITION');
    return String((error as EtlError).details.problems)
      .split('\n  ')
      .slice(1);
  }
  return [];
};

const knownTypes =
  'known types: text, varchar, smallint, integer, bigint, real, double, numeric, boolean, date, time, timestamp, ' +
  'timestamptz, uuid, json, jsonb, of';

const withTable = (table: object): unknown => ({
  name: 'noaa',
  schema: 'noaa',
  tables: { obs: table },
});
const withColumn = (made: unknown): unknown => withTable({ source, columns: { wind: made } });
const withCsv = (...args: unknown[]): unknown => withTable({ source: looseCsv(...args), columns });
const withIndex = (...args: unknown[]): unknown =>
  withTable({ source, columns, indexes: [looseIndex(...args)] });
const good = withTable({ source, columns });

interface Case {
  readonly name: string;
  readonly definition: unknown;
  readonly problems: readonly string[];
}

const pipelineCases: readonly Case[] = [
  {
    name: 'nothing at all',
    definition: undefined,
    problems: ['definition is missing: it must be an object with name, schema and tables'],
  },
  {
    name: 'a misspelt key of the pipeline',
    definition: { ...(good as object), shema: 'x' },
    problems: ['unknown key `shema`; did you mean `schema`?'],
  },
  {
    name: 'a missing schema',
    definition: { name: 'noaa', tables: { obs: { source, columns } } },
    problems: ['schema is missing: it must be a name'],
  },
  {
    name: 'a pipeline name with a dash',
    definition: { ...(good as object), name: 'noaa-hourly' },
    problems: [
      'name `noaa-hourly` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `noaa_hourly`',
    ],
  },
  {
    name: 'a pipeline name with two underscores',
    definition: { ...(good as object), name: 'noaa__hourly' },
    problems: ['name `noaa__hourly` holds __, which separates pipeline and table in staging; use one _'],
  },
  {
    name: 'a schema of sluice itself',
    definition: { ...(good as object), schema: 'etl_staging' },
    problems: ['schema `etl_staging` belongs to sluice itself; choose another schema'],
  },
  {
    name: 'a schema with the prefix of build schemas',
    definition: { ...(good as object), schema: 'etl_build_7' },
    problems: ['schema `etl_build_7` belongs to sluice itself; choose another schema'],
  },
  {
    name: 'a schema of the server',
    definition: { ...(good as object), schema: 'pg_catalog' },
    problems: ['schema `pg_catalog` belongs to PostgreSQL; choose another schema'],
  },
  {
    name: 'no tables',
    definition: { name: 'noaa', schema: 'noaa', tables: {} },
    problems: ['tables must hold at least one table'],
  },
  {
    name: 'tables as a list',
    definition: { name: 'noaa', schema: 'noaa', tables: [] },
    problems: ['tables must be an object of tables, not an empty list'],
  },
  {
    name: 'tables as a function without params',
    definition: { name: 'noaa', schema: 'noaa', tables: () => ({}) },
    problems: ['tables is a function, but there is no params; declare params: z.object({ … })'],
  },
  {
    name: 'params that are no Zod object',
    definition: { ...(good as object), params: { year: z.string() } },
    problems: ['params must be a z.object({ … }), not an object'],
  },
  {
    name: 'problems everywhere come at once',
    definition: {
      name: 'Noaa',
      schema: 'pg_x',
      tables: {
        Obs: { source, columns: { Wind: 'x' }, primarykey: [] },
        day: { from: ['obs'], transform: sql },
      },
    },
    problems: [
      'name `Noaa` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `noaa`',
      'schema `pg_x` belongs to PostgreSQL; choose another schema',
      'table Obs: the name `Obs` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `obs`',
      'table Obs: unknown key `primarykey`; did you mean `primaryKey`?',
      'table Obs, column Wind: the name `Wind` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `wind`',
      `table Obs, column Wind: 'x' is not a column; use column.text('Header') …; ${knownTypes}`,
      'table day: from names `obs`, which is no table of this pipeline; did you mean `Obs`?',
    ],
  },
];

const tableCases: readonly Case[] = [
  {
    name: 'a misspelt key',
    definition: withTable({ source, columns, primarykey: ['wban'] }),
    problems: ['table obs: unknown key `primarykey`; did you mean `primaryKey`?'],
  },
  {
    name: 'a key that is nothing like a known one',
    definition: withTable({ from: ['obs2'], transform: sql, zzz: 1 }),
    problems: ['table obs: unknown key `zzz`; known: primaryKey, indexes, publish, comment, from, transform'],
  },
  {
    name: 'neither source nor from',
    definition: withTable({ columns }),
    problems: [
      "table obs: has neither source nor from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
    ],
  },
  {
    name: 'both source and from',
    definition: withTable({ source, columns, from: ['a'] }),
    problems: [
      "table obs: has both source and from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
    ],
  },
  {
    name: 'a source that is a path',
    definition: withTable({ source: 'a.csv', columns }),
    problems: ["table obs: source must be csv('path.csv'), not 'a.csv'"],
  },
  {
    name: 'a table that is null',
    definition: { name: 'noaa', schema: 'noaa', tables: { obs: null } },
    problems: [
      "table obs: has neither source nor from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
    ],
  },
  {
    name: 'a table name that ends in _staging',
    definition: { name: 'noaa', schema: 'noaa', tables: { obs_staging: { source, columns } } },
    problems: [
      'table obs_staging: the name `obs_staging` ends in _staging, which sluice uses for staging tables; choose another name',
    ],
  },
  {
    name: 'a table name too long for staging',
    definition: {
      name: 'n'.repeat(40),
      schema: 'noaa',
      tables: { [`t${'x'.repeat(30)}`]: { source, columns } },
    },
    problems: [
      'table txxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: its staging table `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn__txxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` would be 73 bytes long, and PostgreSQL cuts names at 63; shorten the name of the pipeline or of the table',
    ],
  },
  {
    name: 'a table name of 64 bytes',
    definition: { name: 'noaa', schema: 'noaa', tables: { ['t'.repeat(64)]: { source, columns } } },
    problems: [
      'table tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt: the name `tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt` is 64 bytes long, and PostgreSQL cuts names at 63; shorten it',
    ],
  },
  {
    name: 'a key column that does not exist',
    definition: withTable({ source, columns, primaryKey: ['wbam'] }),
    problems: ['table obs, primaryKey: `wbam` is no column of the table; did you mean `wban`?'],
  },
  {
    name: 'a key column named twice',
    definition: withTable({ source, columns, primaryKey: ['wban', 'wban'] }),
    problems: ['table obs, primaryKey: names `wban` twice; remove one'],
  },
  {
    name: 'a nullable key column',
    definition: withTable({ source, columns, primaryKey: ['wind'] }),
    problems: ['table obs, column wind: is in the primaryKey and cannot be nullable; remove .nullable()'],
  },
  {
    name: 'a key that is a text',
    definition: withTable({ source, columns, primaryKey: 'wban' }),
    problems: ["table obs: primaryKey must be a list of names, not 'wban'"],
  },
  {
    name: 'a way to publish that is not there yet',
    definition: withTable({ source, columns, publish: 'append' }),
    problems: ["table obs: publish does not know 'append'; known values: 'replace'"],
  },
  {
    name: 'a kind of staging that is not there yet',
    definition: withTable({ source, columns, staging: 'none' }),
    problems: ["table obs: staging does not know 'none'; known values: 'typed', 'text'"],
  },
  {
    name: 'no columns',
    definition: withTable({ source }),
    problems: ["table obs: has no columns; declare them, or use staging: 'text' with a transform"],
  },
  {
    name: 'an empty object of columns',
    definition: withTable({ source, columns: {} }),
    problems: ['table obs: columns is empty; declare at least one'],
  },
  {
    name: 'typed staging with a transform',
    definition: withTable({ source, columns, transform: sql }),
    problems: [
      "table obs: transform needs staging: 'text'; or derive another table with from: ['…'] and the transform",
    ],
  },
  {
    name: 'text staging without a transform',
    definition: withTable({ source, staging: 'text' }),
    problems: ["table obs: staging: 'text' needs transform: sqlFile('….sql'), which makes the rows"],
  },
  {
    name: 'text staging with columns and a filter',
    definition: withTable({
      source,
      staging: 'text',
      transform: sql,
      columns,
      filter: present('WBAN'),
    }),
    problems: [
      "table obs: staging: 'text' takes no columns, the SQL makes them; remove columns",
      "table obs: staging: 'text' takes no filter; put a where clause into the SQL",
    ],
  },
  {
    name: 'text staging of a dialect that COPY cannot obey',
    definition: withTable({
      source: csv('a.csv', {
        trim: true,
        comment: '#',
        ragged: 'pad',
        nulls: ['', 'M'],
        delimiter: '||',
      }),
      staging: 'text',
      transform: sql,
    }),
    problems: [
      "table obs, csv: trim has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and trim in the SQL",
      "table obs, csv: nulls has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and use nullif in the SQL",
      "table obs, csv: ragged: 'pad' has no effect with staging: 'text', because the server reads the bytes untouched; remove it, or declare typed columns",
      "table obs, csv: delimiter must be one byte with staging: 'text', because COPY knows no other",
    ],
  },
  {
    name: 'a transform that is a path',
    definition: withTable({ source, staging: 'text', transform: 'a.sql' }),
    problems: ["table obs: transform must be sqlFile('path.sql'), not 'a.sql'"],
  },
  {
    name: 'a reject limit that is no share',
    definition: withTable({ source, columns, rejectLimit: '0.1' }),
    problems: ["table obs: rejectLimit must be a number of records, or a share such as '0.1%', not '0.1'"],
  },
  {
    name: 'a reject limit over the whole',
    definition: withTable({ source, columns, rejectLimit: '101%' }),
    problems: ["table obs: rejectLimit must be a number of records, or a share such as '0.1%', not '101%'"],
  },
  {
    name: 'a negative reject limit',
    definition: withTable({ source, columns, rejectLimit: -1 }),
    problems: ["table obs: rejectLimit must be a number of records, or a share such as '0.1%', not -1"],
  },
  {
    name: 'from a table that does not exist',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: {
        observation: { source, columns },
        daily: { from: ['observations'], transform: sql },
      },
    },
    problems: [
      'table daily: from names `observations`, which is no table of this pipeline; did you mean `observation`?',
    ],
  },
  {
    name: 'from nothing',
    definition: withTable({ from: [], transform: sql }),
    problems: ['table obs: from must be a list of tables of this pipeline, not an empty list'],
  },
  {
    name: 'derived without SQL',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: { observation: { source, columns }, daily: { from: ['observation'] } },
    },
    problems: ["table daily: transform is missing: it must be sqlFile('path.sql')"],
  },
  {
    name: 'a derived key that is no plain name',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: {
        a: { source, columns },
        b: { from: ['a'], transform: sql, primaryKey: ['The Day'] },
      },
    },
    problems: [
      'table b, primaryKey: column `The Day` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `the_day`',
    ],
  },
];

const columnCases: readonly Case[] = [
  {
    name: 'a misspelt type',
    definition: withColumn(js.strnig!('Wind')),
    problems: [
      `table obs, column wind: unknown column type \`strnig\`; did you mean \`text\`? ${knownTypes}`,
    ],
  },
  {
    name: 'a type name of another database',
    definition: withColumn(js.datetime!('Wind')),
    problems: [
      `table obs, column wind: unknown column type \`datetime\`; did you mean \`timestamp\`? ${knownTypes}`,
    ],
  },
  {
    name: 'a type nobody knows',
    definition: withColumn(js.money!('Wind')),
    problems: [`table obs, column wind: unknown column type \`money\`; ${knownTypes}`],
  },
  {
    name: 'a text instead of a column',
    definition: withColumn('smallint'),
    problems: [
      `table obs, column wind: 'smallint' is not a column; use column.text('Header') …; ${knownTypes}`,
    ],
  },
  {
    name: 'a builder that was not called',
    definition: withColumn(column.text),
    problems: [
      `table obs, column wind: a function is not a column; use column.text('Header') …; ${knownTypes}`,
    ],
  },
  {
    name: 'a column name in camel case',
    definition: withTable({ source, columns: { windSpeed: column.real('Wind') } }),
    problems: [
      'table obs, column windSpeed: the name `windSpeed` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `wind_speed`',
    ],
  },
  {
    name: 'no header',
    definition: withColumn(js.text!()),
    problems: [
      'table obs, column wind: header is missing: it must be a header name, or a list of them to glue together',
    ],
  },
  {
    name: 'an empty list of headers',
    definition: withColumn(js.text!([])),
    problems: [
      'table obs, column wind: header must be a header name, or a list of them to glue together, not an empty list',
    ],
  },
  {
    name: 'a misspelt option',
    definition: withColumn(js.numeric!('Wind', { precison: 4 })),
    problems: ['table obs, column wind: unknown key `precison`; did you mean `precision`?'],
  },
  {
    name: 'an option of another type',
    definition: withColumn(js.smallint!('Wind', { scale: 2 })),
    problems: ['table obs, column wind: unknown key `scale`; known: thousands, nulls, tokens'],
  },
  {
    name: 'an option of the wrong kind',
    definition: withColumn(js.numeric!('Wind', { precision: '8' })),
    problems: ["table obs, column wind: precision must be a whole number, not '8'"],
  },
  {
    name: 'varchar without a length',
    definition: withColumn(js.varchar!('Wind')),
    problems: [
      'table obs, column wind: varchar needs a length from 1 to 10485760, in characters; use text for any length',
    ],
  },
  {
    name: 'a type name that is not one',
    definition: withColumn(js.of!('', 'Wind')),
    problems: ["table obs, column wind: type must be the name of a type, not ''"],
  },
  {
    name: 'a type name with SQL in it',
    definition: withColumn(column.of('text; drop table x', 'Wind')),
    problems: [
      'table obs, column wind: \'text; drop table x\' is not the name of a type, such as citext, public.mood, numeric(8,2)[] or "My Type"',
    ],
  },
  {
    name: 'a pattern that is none',
    definition: withColumn(column.date('Day', { format: 'YYYY-QQ' })),
    problems: [
      'table obs, column wind: format "YYYY-QQ": \'QQ\' means nothing; tokens are YYYY YY MM M MMM DD D HH H hh h A mm ss S to SSSSSS Z',
    ],
  },
  {
    name: 'null tokens that are a text',
    definition: withColumn(js.text!('Wind', { nulls: 'M' })),
    problems: ["table obs, column wind: nulls must be a list of texts, not 'M'"],
  },
  {
    name: 'a default of another kind',
    definition: withColumn(
      (column.smallint('Wind') as never as { default(v: unknown): unknown }).default('calm'),
    ),
    problems: ["table obs, column wind: default 'calm' is not a value of type smallint"],
  },
  {
    name: 'a default out of range',
    definition: withColumn(column.smallint('Wind').default(70_000)),
    problems: [
      'table obs, column wind: default 70000 is not a value of type smallint: "70000" is outside smallint (-32768 to 32767)',
    ],
  },
  {
    name: 'a check without a reason',
    definition: withColumn(
      (column.smallint('Wind') as never as { check(v: unknown): unknown }).check(() => true),
    ),
    problems: [
      'table obs, column wind: checks[0].message is missing: it must be the reason that a rejected record shows',
    ],
  },
  {
    name: 'a schema that is none',
    definition: withColumn((column.smallint('Wind') as never as { zod(v: unknown): unknown }).zod({})),
    problems: ['table obs, column wind: schema must be a Zod schema, not an object'],
  },
  {
    name: 'a map that is no function',
    definition: withColumn((column.smallint('Wind') as never as { map(v: unknown): unknown }).map('trim')),
    problems: ["table obs, column wind: map must be a function from text to text, not 'trim'"],
  },
  {
    name: 'a header that the given header lacks',
    definition: withTable({
      source: csv('a.csv', { header: ['WBAN', 'Winds'] }),
      columns,
      filter: oneOf('Kind', ['AA']),
    }),
    problems: [
      'table obs, column wind: csv(…, { header: […] }) names no field `Wind`; did you mean `Winds`?',
      'table obs, filter: csv(…, { header: […] }) names no field `Kind`; known: WBAN, Winds',
    ],
  },
];

const csvCases: readonly Case[] = [
  {
    name: 'no path',
    definition: withCsv(),
    problems: ['table obs, csv: path is missing: it must be a path, a glob, or a list of them'],
  },
  {
    name: 'a misspelt option',
    definition: withCsv('a.csv', { delimeter: ';' }),
    problems: ['table obs, csv: unknown key `delimeter`; did you mean `delimiter`?'],
  },
  {
    name: 'another encoding',
    definition: withCsv('a.csv', { encoding: 'latin1' }),
    problems: [
      "table obs, csv: encoding knows only 'utf-8'; convert the file first: iconv -f latin1 -t utf-8",
    ],
  },
  {
    name: 'an empty delimiter',
    definition: withCsv('a.csv', { delimiter: '' }),
    problems: ["table obs, csv: delimiter must be at least one character, and no line break, not ''"],
  },
  {
    name: 'a quote of two characters',
    definition: withCsv('a.csv', { quote: '""' }),
    problems: ['table obs, csv: quote must be one ASCII character, not a line break, not \'""\''],
  },
  {
    name: 'delimiter and quote alike',
    definition: withCsv('a.csv', { delimiter: '"' }),
    problems: ['table obs, csv: delimiter and quote must differ'],
  },
  {
    name: 'an escape without quotes',
    definition: withCsv('a.csv', { quote: null, escape: '\\' }),
    problems: ['table obs, csv: escape has no meaning without a quote; leave it out'],
  },
  {
    name: 'no header line and no names',
    definition: withCsv('a.csv', { header: false }),
    problems: ['table obs, csv: header must be true, or the list of all field names, not false'],
  },
  {
    name: 'a name twice in the given header',
    definition: withCsv('a.csv', { header: ['WBAN', 'Wind', 'WBAN'] }),
    problems: ['table obs, csv: header names "WBAN" twice; every field needs its own name'],
  },
  {
    name: 'another way with ragged records',
    definition: withCsv('a.csv', { ragged: 'cut' }),
    problems: ["table obs, csv: ragged does not know 'cut'; known values: 'reject', 'pad'"],
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
    problems: ['table obs, index obs_winds_idx: `winds` is no column of the table; did you mean `wind`?'],
  },
  {
    name: 'an included column that does not exist',
    definition: withIndex('wban', { include: ['winds'] }),
    problems: ['table obs, index obs_wban_idx: `winds` is no column of the table; did you mean `wind`?'],
  },
  {
    name: 'an access method that is not known',
    definition: withIndex('wban', { using: 'btre' }),
    problems: [
      "table obs, index 1: using does not know 'btre'; known values: 'btree', 'brin', 'hash', 'gin', 'gist', 'spgist'",
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
    problems: ["table obs: filter[0].header must be a header name, not ''"],
  },
  {
    name: 'oneOf without values',
    definition: withTable({ source, columns, filter: [oneOf('A', [])] }),
    problems: ['table obs: filter[0].values must be a list of texts, not an empty list'],
  },
  {
    name: 'when without headers',
    definition: withTable({ source, columns, filter: when(() => true, []) }),
    problems: ['table obs: filter[0].headers must be a list of header names, not an empty list'],
  },
];

describe.each([
  ['pipeline', pipelineCases],
  ['table', tableCases],
  ['column', columnCases],
  ['csv', csvCases],
  ['index', indexCases],
  ['filter', filterCases],
])('a wrong %s', (_, cases) => {
  it.each(cases)('$name', ({ definition, problems }) => expect(problemsOf(definition)).toEqual(problems));
});

it('has no problems when everything is right', () => expect(problemsOf(good)).toEqual([]));
