// The exact error text of every mistake in a table.

import { z } from 'zod';
import { column, csv, hash, index, list, present, range } from '../../../src/pipeline/authoring.ts';
import { columns, describeMistakes, source, sql, withKeys, withTable } from './wrong-definitions.ts';

describeMistakes('a wrong key of a table', withKeys, 'table obs', [
  [{ primarykey: ['wban'] }, ': unknown key `primarykey`; did you mean `primaryKey`?'],
  [
    { from: ['a'] },
    ": has both source and from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
  ],
  [{ primaryKey: ['wbam'] }, ', primaryKey: `wbam` is not a column of the table; did you mean `wban`?'],
  [{ primaryKey: ['wban', 'wban'] }, ', primaryKey: names `wban` twice; remove one'],
  [
    { primaryKey: ['wind'] },
    ', column wind: is in the primaryKey and cannot be nullable; remove .nullable()',
  ],
  [{ primaryKey: 'wban' }, ": primaryKey must be a list of names, not 'wban'"],
  [{ partitionBy: list('wbam') }, ', partitionBy: `wbam` is not a column of the table; did you mean `wban`?'],
  [
    {
      partitionBy: range('wind', 'month'),
      primaryKey: ['wban'],
      indexes: [index('wban', { unique: true, include: ['wind'] }), index('wban', { name: 'other' })],
      staging: 'none',
      keep: 2,
    },
    ": partitionBy needs staging: 'typed' or 'text'; remove staging",
    ', partitionBy: column wind cannot be nullable, because a row without it has no partition; remove .nullable()',
    ', partitionBy: range needs a date or timestamp, and wind is smallint; use list or hash',
    ', partitionBy: keep is only for tables that are replaced as a whole; remove keep',
    ", primaryKey: must contain wind, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wind'",
    ", index obs_wban_idx: must contain wind, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wind'",
  ],
  [{ distribute: { by: 'wbam' } }, ', distribute: `wbam` is not a column of the table; did you mean `wban`?'],
  [
    {
      distribute: { by: 'wind', with: 'other' },
      primaryKey: ['wban'],
      indexes: [index('wban', { unique: true })],
      unique: ['wban'],
    },
    ', distribute: column wind cannot be nullable, because a row without it has no shard; remove .nullable()',
    ", distribute: primaryKey must contain wind: Citus keeps a row unique only within its shard; add 'wind'",
    ", distribute: unique index obs_wban_idx must contain wind: Citus keeps a row unique only within its shard; add 'wind'",
    ", distribute: unique obs_wban_key must contain wind: Citus keeps a row unique only within its shard; add 'wind'",
    ", distribute: with names `other`, which is not another table of this pipeline, and one elsewhere is written 'schema.table'",
  ],
  [
    { distribute: 'reference', partitionBy: list('wban') },
    ', distribute: a reference table cannot have partitionBy; remove one of the two',
  ],
  [
    { distribute: { by: 'wban' }, partitionBy: hash('wban', 4) },
    ', distribute: a distributed table is already divided by a hash; partition it by range or list, or remove partitionBy',
  ],
  [
    { distribute: { by: 'wban' }, partitionBy: list('wban'), checks: { short: 'length(wban) < 9' } },
    ', distribute: Citus names a check differently in the shards of a table and of its partitions, and cannot attach these; remove checks or partitionBy',
  ],
  [
    { distribute: 'wban' },
    ": distribute must be 'reference', or an object such as { by: 'customer_id', with: 'customer' }, not 'wban'",
  ],
  [
    { publish: 'upsert' },
    ": publish.mode must be one of 'replace', 'append', 'merge', 'history', not 'upsert'",
  ],
  [{ staging: 'memory' }, ": staging must be one of 'typed', 'text', 'none', not 'memory'"],
  [
    { transform: sql },
    ": transform needs staging: 'text'; or derive another table with from: ['…'] and the transform",
  ],
  [
    { staging: 'text', transform: sql, filter: present('WBAN') },
    ": staging: 'text' allows no columns, the SQL makes them; remove columns",
    ": staging: 'text' allows no filter; put a where clause into the SQL",
  ],
  [{ rejectLimit: '0.1' }, ": rejectLimit must be a number of records, or a share such as '0.1%', not '0.1'"],
  [
    { rejectLimit: '101%' },
    ": rejectLimit must be a number of records, or a share such as '0.1%', not '101%'",
  ],
  [{ rejectLimit: -1 }, ": rejectLimit must be a number of records, or a share such as '0.1%', not -1"],
  [
    {
      checks: { '': 'a > 1', obs_nope_key: 'a > 2' },
      unique: ['nope', { columns: 'wban', name: 'obs_pkey' }],
    },
    ', check : the name `` is empty; give a name',
    ', unique obs_nope_key: the name is taken by another constraint of the table; choose another',
    ', unique obs_nope_key: `nope` is not a column of the table; known: wban, wind',
    ', unique obs_pkey: the name is taken by another constraint of the table; choose another',
  ],
  [
    { partitionBy: list('wban'), checks: { few: 'wind < 1' }, unique: ['wind', ['wind', 'wban']] },
    ", unique obs_wind_key: must contain wban, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'wban'",
  ],
  [
    {
      columnComments: { nope: 'a' },
      statistics: { wind: 100_000 },
      storage: { fillfactor: 5, 'x=1)--': 1 },
      tablespace: '',
    },
    ': statistics.wind must be a whole number from 0 to 10000, not 100000',
    ': storage.fillfactor must be a whole number from 10 to 100, not 5',
    ": tablespace must be the name of a tablespace, not ''",
  ],
  [
    { columnComments: { nope: 'a' }, statistics: { winds: 9 } },
    ', columnComments: `nope` is not a column of the table; known: wban, wind',
    ', statistics: `winds` is not a column of the table; did you mean `wind`?',
  ],
  [
    { storage: { 'x=1)--': 1 } },
    ': storage.x=1)-- is not the name of a storage parameter, such as autovacuum_enabled or toast.autovacuum_enabled',
  ],
  [
    {
      foreignKeys: [
        { columns: 'wban', references: 'station.' },
        { columns: [], references: { table: 'obs', column: 'wban' } },
        { columns: 'wban', references: 'obs', onDelete: 'restrict' },
      ],
    },
    ": foreignKeys[0].references must be a table and its column, such as 'store.id', or { table, columns }, not 'station.'",
    ": foreignKeys[1].columns must be an object such as { columns: 'store_id', references: 'store.id' }, not an empty list",
    ': foreignKeys[1].references unknown key `column`; did you mean `columns`?',
    ": foreignKeys[2].onDelete must be one of 'no action', 'cascade', 'set null', not 'restrict'",
  ],
  [
    { checks: { few: '' }, unique: 'a' },
    ": checks.few must be an SQL condition, such as 'price >= 0', not ''",
    ": unique must be a list of columns or lists of columns, not 'a'",
  ],
  [
    { guard: true },
    ": guard must be false, or an object such as { rowsMin: 1000, shrinkMax: '20%' }, not true",
  ],
  [
    { guard: { rowMin: 1, rowsMin: -1, shrinkMax: '200%' } },
    ': guard.rowsMin must be a number of rows, not -1',
    ": guard.shrinkMax must be a share such as '20%', not '200%'",
    ': guard unknown key `rowMin`; did you mean `rowsMin`?',
  ],
  [{ row: z.object({}) }, ': row is only for tables that SQL makes; here the columns declare it, remove row'],
]);

describeMistakes('a wrong table', withTable, 'table obs', [
  [
    { from: ['obs2'], transform: sql, zzz: 1 },
    ': unknown key `zzz`; known: primaryKey, indexes, checks, unique, foreignKeys, tests, columnComments, statistics, storage, tablespace, distribute, publish, evolve, partitionBy, comment, guard, keep, from, transform, row',
  ],
  [
    { columns },
    ": has neither source nor from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
  ],
  [{ source: 'a.csv', columns }, ": source must be csv('path.csv'), not 'a.csv'"],
  [{ source }, ": has no columns; declare them, or use staging: 'text' with a transform"],
  [{ source, columns: {} }, ': columns is empty; declare at least one'],
  [{ source, staging: 'text' }, ": staging: 'text' needs transform: sqlFile('….sql'), which makes the rows"],
  [
    {
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
    },
    ", csv: trim has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and trim in the SQL",
    ", csv: nulls has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and use nullif in the SQL",
    ", csv: quotedNulls: true has no effect with staging: 'text', because the server reads the bytes untouched; remove it, and use nullif in the SQL",
    ", csv: ragged: 'pad' has no effect with staging: 'text', because the server reads the bytes untouched; remove it, or declare typed columns",
    ", csv: delimiter must be one byte with staging: 'text', because COPY knows no other",
  ],
  [{ source, staging: 'text', transform: 'a.sql' }, ": transform must be sqlFile('path.sql'), not 'a.sql'"],
  [
    {
      source,
      columns: { ...columns, twice: column.generated('', ''), id: column.identity('never' as never) },
    },
    ", column twice: type must be an SQL type, such as numeric(12,2), not ''",
    ", column twice: expression must be an SQL expression, such as price * pieces, not ''",
    ", column id: when must be one of 'always', 'by default', not 'never'",
  ],
  [
    {
      source,
      columns: { ...columns, twice: column.generated('int', 'wind * 2'), id: column.identity() },
      publish: 'merge',
      primaryKey: ['id'],
      partitionBy: list('twice'),
    },
    ', column id: an identity column needs a table without partitionBy, because partitions cannot have one before PostgreSQL 17; remove one of the two',
    ', primaryKey: `id` is not a column of the table; known: wban, wind',
    ', partitionBy: `twice` is not a column of the table; known: wban, wind',
    ", primaryKey: must contain twice, of partitionBy: PostgreSQL keeps a row unique only within its partition; add 'twice'",
  ],
  [{ from: [], transform: sql }, ': from must be a list of tables of this pipeline, not an empty list'],
]);

describeMistakes('wrong tables', (tables: object) => ({ name: 'noaa', schema: 'noaa', tables }), '', [
  [
    { obs: null },
    "table obs: has neither source nor from; give source: csv(…) to load files, or from: ['table'] to derive it with SQL",
  ],
  [
    { obs: { source, staging: 'text', transform: sql }, obs_staging: { source, columns } },
    'table obs_staging: a run needs this name for rows of obs; choose another name',
  ],
  [
    { obs: { source, columns }, obs__part: { source, columns } },
    'table obs__part: a run needs this name for rows of obs; choose another name',
  ],
  [
    { ['t'.repeat(56)]: { source, staging: 'text', transform: sql } },
    'table tttttttttttttttttttttttttttttttttttttttttttttttttttttttt: its name for SQL `tttttttttttttttttttttttttttttttttttttttttttttttttttttttt_staging` would be 64 bytes long, and PostgreSQL cuts names at 63; shorten the name of the table',
  ],
  [
    { ['t'.repeat(64)]: { source, columns } },
    'table tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt: the name `tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt` is 64 bytes long, and PostgreSQL cuts names at 63; shorten it',
  ],
  [
    {
      one: { source, columns, partitionBy: range('wban', 'hour' as 'day') },
      two: { source, columns, partitionBy: hash('wban', 0) },
      three: { source, columns, partitionBy: 'wban' },
    },
    "table one: partitionBy.of.unit must be one of 'day', 'week', 'month', 'quarter', 'year', not 'hour'",
    'table two: partitionBy.of.partitions must be a number of partitions from 1 to 100, not 0',
    "table three: partitionBy must be range('column', 'month'), list('column') or hash('column', 8), not 'wban'",
  ],
  [
    {
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
      station: { source, columns: { id: column.text('id'), name: column.text('name') }, primaryKey: ['id'] },
      day: { from: ['obs'], transform: sql },
    },
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
  [
    { observation: { source, columns }, daily: { from: ['observations'], transform: sql } },
    'table daily: from names `observations`, which is not a table of this pipeline; did you mean `observation`?',
  ],
  [
    {
      observation: { source, columns },
      daily: {
        from: ['observation'],
        transform: sql,
        row: z.object({ day: z.string() }),
        primaryKey: ['dy'],
        indexes: [index('wban')],
      },
      yearly: { from: ['daily'], transform: sql, row: { _def: {}, safeParse: () => undefined } },
      text: { source, staging: 'text', transform: sql, row: z.object({ a: z.string() }), primaryKey: ['b'] },
    },
    'table daily, primaryKey: `dy` is not a column of the table; did you mean `day`?',
    'table daily, index daily_wban_idx: `wban` is not a column of the table; known: day',
    'table yearly: row must be a z.object({ … }) of Zod 4, not an object',
    'table text, primaryKey: `b` is not a column of the table; known: a',
  ],
  [
    { observation: { source, columns }, daily: { from: ['observation'] } },
    "table daily: transform is missing: it must be sqlFile('path.sql')",
  ],
  [
    { a: { source, columns }, b: { from: ['a'], transform: sql, primaryKey: ['a\0'] } },
    'table b, primaryKey: column `a\\x00` is not a name: PostgreSQL stores neither NUL nor half of a character; leave it out',
  ],
]);
