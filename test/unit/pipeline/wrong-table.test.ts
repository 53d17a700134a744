// The exact error text of every mistake in a table.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, hash, index, list, present, range } from '../../../src/pipeline/authoring.ts';
import { columns, problemsOf, source, sql, withTable, type Case } from './wrong-definitions.ts';

const tableCases: readonly Case[] = [
  {
    name: 'a misspelt key',
    definition: withTable({ source, columns, primarykey: ['wban'] }),
    problems: ['table obs: unknown key `primarykey`; did you mean `primaryKey`?'],
  },
  {
    name: 'a key that is nothing like a known one',
    definition: withTable({ from: ['obs2'], transform: sql, zzz: 1 }),
    problems: [
      'table obs: unknown key `zzz`; known: primaryKey, indexes, checks, unique, foreignKeys, tests, columnComments, statistics, storage, tablespace, publish, evolve, partitionBy, comment, guard, keep, from, transform, row',
    ],
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
    problems: ['table obs, primaryKey: `wbam` is not a column of the table; did you mean `wban`?'],
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
    name: 'partitions by what is no column',
    definition: withTable({ source, columns, partitionBy: list('wbam') }),
    problems: ['table obs, partitionBy: `wbam` is not a column of the table; did you mean `wban`?'],
  },
  {
    name: 'partitions by a column that has no time, may be missing, or is not in the keys',
    definition: withTable({
      source,
      columns,
      partitionBy: range('wind', 'month'),
      primaryKey: ['wban'],
      indexes: [index('wban', { unique: true, include: ['wind'] }), index('wban', { name: 'other' })],
      staging: 'none',
      keep: 2,
    }),
    problems: [
      'table obs, partitionBy: column wind cannot be nullable, because a row without it has no partition; remove .nullable()',
      'table obs, partitionBy: range needs a date or timestamp, and wind is smallint; use list or hash',
      "table obs, partitionBy: needs staging: 'typed' or 'text', from which partitions are made; remove staging",
      'table obs, partitionBy: keep is only for tables that are replaced as a whole; remove keep',
      "table obs, primaryKey: must contain wind, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wind'",
      "table obs, index obs_wban_idx: must contain wind, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wind'",
    ],
  },
  {
    name: 'partitions of no such time or number, or not made with its functions',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: {
        one: { source, columns, partitionBy: range('wban', 'hour' as 'day') },
        two: { source, columns, partitionBy: hash('wban', 0) },
        three: { source, columns, partitionBy: 'wban' },
      },
    },
    problems: [
      "table one: partitionBy.of.unit must be one of 'day', 'week', 'month', 'quarter', 'year', not 'hour'",
      'table two: partitionBy.of.partitions must be a number of partitions from 1 to 100, not 0',
      "table three: partitionBy must be range('column', 'month'), list('column') or hash('column', 8), not 'wban'",
    ],
  },
  {
    name: 'a way to publish that is not there yet',
    definition: withTable({ source, columns, publish: 'upsert' }),
    problems: [
      "table obs: publish.mode must be one of 'replace', 'append', 'merge', 'history', not 'upsert'",
    ],
  },
  {
    name: 'a kind of staging that is not there',
    definition: withTable({ source, columns, staging: 'memory' }),
    problems: ["table obs: staging must be one of 'typed', 'text', 'none', not 'memory'"],
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
      "table obs: staging: 'text' allows no columns, the SQL makes them; remove columns",
      "table obs: staging: 'text' allows no filter; put a where clause into the SQL",
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
        quotedNulls: true,
        delimiter: '||',
      }),
      staging: 'text',
      transform: sql,
    }),
    problems: [
      "table obs, csv: trim has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and trim in the SQL",
      "table obs, csv: nulls has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and use nullif in the SQL",
      "table obs, csv: quotedNulls: true has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and use nullif in the SQL",
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
    name: 'constraints with wrong names, columns and conditions',
    definition: withTable({
      source,
      columns,
      checks: { 'Too-Few': 'a > 1', obs_nope_key: 'a > 2' },
      unique: ['nope', { columns: 'wban', name: 'obs_pkey' }],
    }),
    problems: [
      'table obs, check Too-Few: the name `Too-Few` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `too_few`',
      'table obs, unique obs_nope_key: the name is taken by another constraint of the table; choose another',
      'table obs, unique obs_nope_key: `nope` is not a column of the table; known: wban, wind',
      'table obs, unique obs_pkey: the name is taken by another constraint of the table; choose another',
    ],
  },
  {
    name: 'a unique constraint of a divided table that does not hold the column of its partitions',
    definition: withTable({
      source,
      columns,
      partitionBy: list('wban'),
      checks: { few: 'wind < 1' },
      unique: ['wind', ['wind', 'wban']],
    }),
    problems: [
      "table obs, unique obs_wind_key: must contain wban, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wban'",
    ],
  },
  {
    name: 'attributes of no column, and out of range',
    definition: withTable({
      source,
      columns,
      columnComments: { nope: 'a' },
      statistics: { wind: 100_000 },
      storage: { fillfactor: 5, 'x=1)--': 1 },
      tablespace: '',
    }),
    problems: [
      'table obs: statistics.wind must be a whole number from 0 to 10000, not 100000',
      'table obs: storage.fillfactor must be a whole number from 10 to 100, not 5',
      "table obs: tablespace must be the name of a tablespace, not ''",
    ],
  },
  {
    name: 'comments and statistics of columns that there are not, and parameters that are none',
    definition: withTable({
      source,
      columns,
      columnComments: { nope: 'a' },
      statistics: { winds: 9 },
    }),
    problems: [
      'table obs, columnComments: `nope` is not a column of the table; known: wban, wind',
      'table obs, statistics: `winds` is not a column of the table; did you mean `wind`?',
    ],
  },
  {
    name: 'columns that the server fills, of no type and no expression',
    definition: withTable({
      source,
      columns: { ...columns, twice: column.generated('', ''), id: column.identity('never' as never) },
    }),
    problems: [
      "table obs, column twice: type must be an SQL type, such as numeric(12,2), not ''",
      "table obs, column twice: expression must be an SQL expression, such as price * pieces, not ''",
      "table obs, column id: when must be one of 'always', 'by default', not 'never'",
    ],
  },
  {
    name: 'columns that the server fills where it cannot',
    definition: withTable({
      source,
      columns: { ...columns, twice: column.generated('int', 'wind * 2'), id: column.identity() },
      publish: 'merge',
      primaryKey: ['id'],
      partitionBy: list('twice'),
    }),
    problems: [
      'table obs, column id: an identity column needs a table without partitionBy, because partitions cannot have one before PostgreSQL 17; remove one of the two',
      'table obs, primaryKey: `id` is not a column of the table; known: wban, wind',
      'table obs, partitionBy: `twice` is not a column of the table; known: wban, wind',
      "table obs, primaryKey: must contain twice, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'twice'",
    ],
  },
  {
    name: 'parameters with hostile names',
    definition: withTable({ source, columns, storage: { 'x=1)--': 1 } }),
    problems: [
      'table obs: storage.x=1)-- is not the name of a storage parameter, such as autovacuum_enabled or toast.autovacuum_enabled',
    ],
  },
  {
    name: 'foreign keys that are none',
    definition: withTable({
      source,
      columns,
      foreignKeys: [
        { columns: 'wban', references: 'station.' },
        { columns: [], references: { table: 'obs', column: 'wban' } },
        { columns: 'wban', references: 'obs', onDelete: 'restrict' },
      ],
    }),
    problems: [
      "table obs: foreignKeys[0].references must be a table and its column, such as 'store.id', or { table, columns }, not 'station.'",
      "table obs: foreignKeys[1].columns must be an object such as { columns: 'store_id', references: 'store.id' }, not an empty list",
      'table obs: foreignKeys[1].references unknown key `column`; did you mean `columns`?',
      "table obs: foreignKeys[2].onDelete must be one of 'no action', 'cascade', 'set null', not 'restrict'",
    ],
  },
  {
    name: 'foreign keys to what is not there, is no key, or of another type',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: {
        obs: {
          source,
          columns: { ...columns, code: column.text('code'), other: column.bigint('other').nullable() },
          primaryKey: ['wban'],
          foreignKeys: [
            { columns: 'none', references: 'station' },
            { columns: 'wban', references: 'statoin.id' },
            { columns: 'wban', references: 'station.ident' },
            { columns: 'wban', references: 'station.name', name: 'to_name' },
            { columns: ['wban', 'wind'], references: 'station', name: 'two' },
            { columns: 'other', references: 'station.id' },
            { columns: 'code', references: 'day', name: 'to_day' },
            { columns: 'wban', references: { schema: 'other', table: 'place' }, name: 'outside' },
            { columns: ['wban'], references: 'station', onDelete: 'set null', name: 'nulls' },
            { columns: 'code', references: 'obs', onDelete: 'cascade', name: 'round' },
          ],
        },
        station: {
          source,
          columns: { id: column.text('id'), name: column.text('name') },
          primaryKey: ['id'],
        },
        day: { from: ['obs'], transform: sql },
      },
    },
    problems: [
      'table obs, foreign key obs_none_fkey: `none` is not a column of the table; known: wban, wind, code, other',
      'table obs, foreign key obs_wban_fkey: the name is taken by another constraint of the table; choose another',
      "table obs, foreign key obs_wban_fkey: `statoin` is not a table of this pipeline, and another is written 'schema.table.column'; did you mean `station`?",
      'table obs, foreign key obs_wban_fkey: `ident` is not a column of table station; known: id, name',
      'table obs, foreign key to_name: (name) of table station is neither its primaryKey nor unique; declare it in unique',
      'table obs, foreign key two: 2 columns refer to 1; name as many of the other table',
      'table obs, foreign key obs_other_fkey: other is bigint, and id of table station is text; give both the same type',
      'table obs, foreign key to_day: table day has no primaryKey; declare one, or name its columns',
      'table obs, foreign key outside: needs the columns of other.place that it refers to',
      "table obs, foreign key nulls: onDelete: 'set null' needs a column that allows nulls; wban does not",
      "table obs, foreign key round: onDelete: 'cascade' needs an order of the tables, and they refer to each other in a circle; remove onDelete",
    ],
  },
  {
    name: 'checks that are no conditions',
    definition: withTable({ source, columns, checks: { few: '' }, unique: 'a' }),
    problems: [
      "table obs: checks.few must be an SQL condition, such as 'price >= 0', not ''",
      "table obs: unique must be a list of columns or lists of columns, not 'a'",
    ],
  },
  {
    name: 'a guard that is no guard',
    definition: withTable({ source, columns, guard: true }),
    problems: [
      "table obs: guard must be false, or an object such as { rowsMin: 1000, shrinkMax: '20%' }, not true",
    ],
  },
  {
    name: 'a guard with a misspelt key, a number that is none and a share over the whole',
    definition: withTable({ source, columns, guard: { rowMin: 1, rowsMin: -1, shrinkMax: '200%' } }),
    problems: [
      'table obs: guard.rowsMin must be a number of rows, not -1',
      "table obs: guard.shrinkMax must be a share such as '20%', not '200%'",
      'table obs: guard unknown key `rowMin`; did you mean `rowsMin`?',
    ],
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
      'table daily: from names `observations`, which is not a table of this pipeline; did you mean `observation`?',
    ],
  },
  {
    name: 'from nothing',
    definition: withTable({ from: [], transform: sql }),
    problems: ['table obs: from must be a list of tables of this pipeline, not an empty list'],
  },
  {
    name: 'names that are not in the row, and a row that is none, such as one of Zod 3',
    definition: {
      name: 'noaa',
      schema: 'noaa',
      tables: {
        observation: { source, columns },
        daily: {
          from: ['observation'],
          transform: sql,
          row: z.object({ day: z.string() }),
          primaryKey: ['dy'],
          indexes: [index('wban')],
        },
        yearly: { from: ['daily'], transform: sql, row: { _def: {}, safeParse: () => undefined } },
        text: {
          source,
          staging: 'text',
          transform: sql,
          row: z.object({ a: z.string() }),
          primaryKey: ['b'],
        },
      },
    },
    problems: [
      'table daily, primaryKey: `dy` is not a column of the table; did you mean `day`?',
      'table daily, index daily_wban_idx: `wban` is not a column of the table; known: day',
      'table yearly: row must be a z.object({ … }) of Zod 4, not an object',
      'table text, primaryKey: `b` is not a column of the table; known: a',
    ],
  },
  {
    name: 'a row beside columns',
    definition: withTable({ source, columns, row: z.object({}) }),
    problems: ['table obs: row is only for tables that SQL makes; here the columns declare it, remove row'],
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

describe.each([['table', tableCases]])('a wrong %s', (_, cases) => {
  it.each(cases)('$name', ({ definition, problems }) => expect(problemsOf(definition)).toEqual(problems));
});
