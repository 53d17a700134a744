// The exact error text of every mistake in the keys of a pipeline, such as its name and schema.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { columns, good, knownTypes, problemsOf, source, sql, type Case } from './wrong-definitions.ts';

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
    problems: ['name `noaa__hourly` contains __, which separates pipeline and table in staging; use one _'],
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
    name: 'a reject limit above all records',
    definition: { ...(good as object), rejectLimit: '101%' },
    problems: ["rejectLimit must be a number of records, or a share such as '0.1%', not '101%'"],
  },
  {
    name: 'a search path that is no list of schemas',
    definition: { ...(good as object), searchPath: 'public' },
    problems: [`searchPath must be a list of schemas, not 'public'`],
  },
  {
    name: 'a search path with temporary objects, and one with those of sluice itself',
    definition: { ...(good as object), searchPath: ['public', 'pg_temp', 'etl'] },
    problems: [
      'searchPath `pg_temp` belongs to PostgreSQL; choose another schema',
      'searchPath `etl` belongs to sluice itself; choose another schema',
    ],
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
    problems: ['params must be a z.object({ … }) of Zod 4, not an object'],
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
      'table day: from names `obs`, which is not a table of this pipeline; did you mean `Obs`?',
    ],
  },
];

describe.each([['pipeline', pipelineCases]])('a wrong %s', (_, cases) => {
  it.each(cases)('$name', ({ definition, problems }) => expect(problemsOf(definition)).toEqual(problems));
});

it('has no problems when everything is right', () => expect(problemsOf(good)).toEqual([]));
