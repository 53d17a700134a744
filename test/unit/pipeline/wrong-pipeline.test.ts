// The exact error text of every mistake in the keys of a pipeline, such as its name and schema.

import { expect, it } from 'vitest';
import { z } from 'zod';
import { columns, define, describeMistakes, good, knownTypes, source, sql } from './wrong-definitions.ts';

describeMistakes('a wrong key of a pipeline', (change: object) => ({ ...good, ...change }), '', [
  [{ shema: 'x' }, 'unknown key `shema`; did you mean `schema`?'],
  [
    { name: 'noaa-hourly' },
    'name `noaa-hourly` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `noaa_hourly`',
  ],
  [
    { name: 'noaa__hourly' },
    'name `noaa__hourly` contains __, which separates pipeline and table in staging; use one _',
  ],
  [{ schema: 'etl_staging' }, 'schema `etl_staging` belongs to sluice itself; choose another schema'],
  [{ schema: 'etl_build_7' }, 'schema `etl_build_7` belongs to sluice itself; choose another schema'],
  [{ rejectLimit: '101%' }, "rejectLimit must be a number of records, or a share such as '0.1%', not '101%'"],
  [{ searchPath: 'public' }, `searchPath must be a list of schemas, not 'public'`],
  [
    { searchPath: ['public', 'pg_temp', 'etl'] },
    'searchPath `pg_temp` belongs to PostgreSQL; choose another schema',
    'searchPath `etl` belongs to sluice itself; choose another schema',
  ],
  [{ schema: 'pg_catalog' }, 'schema `pg_catalog` belongs to PostgreSQL; choose another schema'],
  [{ params: { year: z.string() } }, 'params must be a z.object({ … }) of Zod 4, not an object'],
]);

describeMistakes('a wrong pipeline', (definition: unknown) => definition, '', [
  [undefined, 'definition is missing: it must be an object with name, schema and tables'],
  [{ name: 'noaa', tables: { obs: { source, columns } } }, 'schema is missing: it must be a name'],
  [{ name: 'noaa', schema: 'noaa', tables: {} }, 'tables must hold at least one table'],
  [{ name: 'noaa', schema: 'noaa', tables: [] }, 'tables must be an object of tables, not an empty list'],
  [
    { name: 'noaa', schema: 'noaa', tables: () => ({}) },
    'tables is a function, but there is no params; declare params: z.object({ … })',
  ],
  [
    {
      name: 'Noaa',
      schema: 'pg_x',
      tables: {
        Obs: { source, columns: { Wind: 'x' }, primarykey: [] },
        day: { from: ['obs'], transform: sql },
      },
    },
    'name `Noaa` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `noaa`',
    'schema `pg_x` belongs to PostgreSQL; choose another schema',
    'table Obs: unknown key `primarykey`; did you mean `primaryKey`?',
    `table Obs, column Wind: 'x' is not a column; use column.text('Header') …; ${knownTypes}`,
    'table day: from names `obs`, which is not a table of this pipeline; did you mean `Obs`?',
  ],
]);

it('has no problems when everything is right', () => expect(() => define(good)).not.toThrow());
