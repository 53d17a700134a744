// Rows of production that a policy hides from the role of the run itself: nothing takes those that it sees for all of them.

import { rmSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  list,
  sqlFile,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, rowsOf, run, startOver } = usePipelineRuns();

const loader = 'loader_of_cities';
/** As the owner of the tables, who is no superuser, and from whom forced policies hide rows. */
const asLoader = () => {
  const url = new URL(database.url);
  [url.username, url.password] = [loader, loader];
  return { databaseUrl: url.href };
};

const city = {
  source: csv('in/*.csv'),
  columns: { id: column.integer('id'), state: column.text('state') },
  primaryKey: ['id', 'state'] as ['id', 'state'],
  partitionBy: list('state' as const),
  publish: { mode: 'replace', only: 'touched' } as const,
  guard: false as const,
};
const alone = definePipeline({ name: 'cities', schema: 'geo', tables: { city } });
const pipeline = definePipeline({
  name: 'cities',
  schema: 'geo',
  tables: {
    city,
    town: {
      source: csv('town/*.csv'),
      columns: { id: column.integer('id'), state: column.text('state') },
      publish: 'append',
    },
    total: { from: ['city', 'town'], transform: sqlFile('total.sql'), primaryKey: ['state'], guard: false },
  },
});

const write = (name: string, ...lines: readonly string[]) =>
  files.write(`${name}.csv`, `id,state\n${lines.join('\n')}\n`);
const totals = () => rowsOf('select state, n from geo.total order by state');
const hide = (sees: string, table = 'city') =>
  database.query(`set role ${loader}; create policy p on geo.${table} to ${loader} using (${sees});
    alter table geo.${table} enable row level security, force row level security; reset role`);

beforeEach(async () => {
  for (const name of ['town', 'village'])
    rmSync(`${files.directory}/${name}`, { recursive: true, force: true });
  await startOver('geo');
  await database.query(`do $$ begin
    if to_regrole('${loader}') is null then create role ${loader} login password '${loader}'; end if;
    execute format('grant create, temporary on database %I to ${loader}', current_database());
  end $$`);
  files.write(
    'total.sql',
    'select state, count(*)::int as n from (select state from city union all select state from town) s group by state',
  );
  write('in/a', '1,HE', '2,BY');
  write('town/a', '7,HE');
  await run(pipeline, asLoader());
});

it.each([
  ['brings other rows to it', 'before anything is loaded', 'in/b', "state = 'BY'"],
  ['leaves it as it is', 'before anything is loaded', 'town/b', "state = 'BY'"],
  ['sees none of it', 'before anything is loaded', 'in/b', 'false'],
  // A definition that is published already is rehearsed only if loading may take long.
  ['sees none of it', 'after a brief load', 'in/b', 'false'],
])('SQL that reads such a table is refused, also when the run %s, %s', async (_, when, file, sees) => {
  const [chunkBytes, chunks] = when === 'after a brief load' ? [undefined, 3] : [1, 2];
  await hide(sees);
  const before = await totals();
  write(file, '3,NW');
  expect(await failureOf(run(pipeline, { ...asLoader(), chunkBytes }))).toMatchObject({
    code: 'ETL_PUBLISH_REFUSED',
    details: { table: 'city', sqlstate: '42501' },
    message: expect.stringContaining('row-level security policy for table "city"'),
  });
  expect(await totals()).toEqual(before);
  expect(await rowsOf('select count(*)::int as n from etl.chunk')).toEqual([{ n: chunks }]);
  await database.query('alter table geo.city no force row level security');
  await run(pipeline, asLoader());
  expect(await totals()).toEqual([
    { state: 'BY', n: 1 },
    { state: 'HE', n: 2 },
    { state: 'NW', n: 1 },
  ]);
});

it('partitions of files that are not listed any more stay, though the run sees no row of the table', async () => {
  await hide('false');
  rmSync(`${files.directory}/in/a.csv`);
  write('in/b', '3,NW');
  expect(await run(alone, asLoader())).toMatchObject({ tables: [{ partitions: ['city_NW'] }] });
  expect(await rowsOf('select id from geo.city order by id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(await run(alone, asLoader())).toMatchObject({ outcome: 'unchanged' });
});

it.each([
  {
    by: 'in place',
    publish: 'replace',
    file: 'a',
    ddl: 'create view geo.seen as select id from geo.village',
  },
  { by: 'append', publish: { mode: 'append', changed: 'reload' }, file: 'a', ddl: '' },
  { by: 'merge', publish: 'merge', file: 'b', ddl: '' },
  { by: 'history', publish: 'history', file: 'b', ddl: '' },
])(
  'a row that is hidden from the run is neither left beside those that replace it, nor written twice: $by',
  async ({ publish, file, ddl }) => {
    const village: Pipeline = definePipeline({
      name: 'villages',
      schema: 'geo',
      tables: {
        village: {
          source: csv('village/*.csv'),
          columns: { id: column.integer('id'), state: column.text('state') },
          primaryKey: ['id'],
          publish,
          guard: false,
        },
      },
    } as never);
    write('village/a', '7,HE', '8,BY');
    await run(village, asLoader());
    await database.query(ddl);
    await hide("state = 'BY'", 'village');
    const rows = () => rowsOf('select id, state from geo.village order by id');
    const before = await rows();
    // The policy lets the run write both: they are as it sees them.
    write(`village/${file}`, '7,BY', '8,BY');
    expect(await failureOf(run(village, asLoader()))).toMatchObject({
      code: 'ETL_PUBLISH_REFUSED',
      details: { table: 'village', sqlstate: '42501' },
    });
    expect(await rows()).toEqual(before);
  },
);

it('a data test that reads a table whose rows are hidden from the run is refused, and does not pass', async () => {
  files.write('blocked.sql', 'select t.* from town t join geo.blocked b on b.id = t.id');
  const { source, columns } = city;
  const tested = definePipeline({
    name: 'towns',
    schema: 'towns',
    tables: { town: { source, columns, tests: [expected.sql('blocked.sql')] } },
  });
  await database.query(`create table geo.blocked (id integer); insert into geo.blocked values (1);
    alter table geo.blocked enable row level security; grant select on geo.blocked to ${loader}`);
  expect(await failureOf(run(tested, asLoader()))).toMatchObject({ code: 'ETL_TEST_REFUSED' });
  await database.query('alter table geo.blocked disable row level security');
  expect(await failureOf(run(tested, asLoader()))).toMatchObject({ code: 'ETL_TEST_FAILED' });
});

it('rows that are hidden from who verifies are not called missing', async () => {
  await hide('false', 'town');
  const { directory } = files;
  const verifying = verifyPipeline(pipeline, { ...asLoader(), directory, workingDirectory: directory });
  expect(await failureOf(verifying)).toMatchObject({ code: 'ETL_PERMISSION' });
});
