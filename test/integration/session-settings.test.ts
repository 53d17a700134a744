// Settings of a role or database for reading and writing texts change no loaded or reported value.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import noaaSql from '../../pipelines/noaa-sql.ts';
import noaa from '../../pipelines/noaa.ts';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, runPipeline, schedule, sqlFile } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { ask } from '../helpers/own-server.ts';
import { useDatabase, createDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const files = useFiles();
files.write('days.csv', 'day,text\n03/02/2011,a\\b\n');

/** Only the server knows this type, so it parses the text. */
const days = definePipeline({
  name: 'days',
  schema: 'days',
  tables: {
    days: {
      source: csv('days.csv'),
      columns: { day: column.of('date', 'day'), text: column.text('text').default(String.raw`\'`) },
    },
  },
});

const settings = {
  datestyle: `'German, DMY'`,
  intervalstyle: 'iso_8601',
  timezone: `'America/New_York'`,
  extra_float_digits: '-9',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  default_transaction_isolation: 'serializable',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  search_path: 'nowhere',
  session_replication_role: 'replica',
};

describe('a database with other settings', () => {
  const database = useDatabase();
  const place = () => ({ databaseUrl: database.url, redis: false as const });
  const say = async (...args: readonly string[]): Promise<string> => {
    const io = fakeIo({ env: { DATABASE_URL: database.url } });
    expect({ exit: await main(args, io), said: io.stderr.text }).toEqual({ exit: 0, said: '' });
    return io.stdout.text;
  };

  beforeAll(async () => {
    for (const [name, value] of Object.entries(settings))
      await database.query(
        `do $$ begin execute format('alter database %I set ${name} = ${value.replaceAll("'", "''")}', current_database()); end $$`,
      );
    // The sum that another parser computed from the file.
    await runPipeline(noaa, { ...place(), directory: 'pipelines' });
    await runPipeline(noaaSql, { ...place(), directory: 'pipelines' });
    await runPipeline(days, { ...place(), workingDirectory: files.directory });
  });

  it('gets the same weather, whether columns are typed or SQL cleans them', async () => {
    const truth = JSON.parse(
      readFileSync(new URL('../fixtures/expected/typed_expected.json', import.meta.url), 'utf8'),
    );
    const { numeric, numeric_sum: sum } = truth['noaa/201101..201106hourly.txt'].find(
      ({ name }: { name: string }) => name === 'DryBulbCelsius',
    );
    for (const table of ['noaa.observation', 'noaa_sql.observation']) {
      const found = await database.query(
        `select count(dry_bulb_c)::int as numeric, sum(dry_bulb_c::numeric) = $1::numeric as same,
          min(observed_at)::text || ' ' || count(distinct observed_at) as moments from ${table}`,
        [sum],
      );
      expect(found.rows).toEqual([
        { numeric, same: true, moments: expect.stringMatching(/^2011-01-01 .* 5276$/) },
      ]);
    }
  });

  it('reads month and day in one order, whatever DateStyle is set', async () => {
    const { rows } = await database.query('select day::text, text from days.days');
    expect(rows).toEqual([{ day: '2011-03-02', text: 'a\\b' }]);
  });

  it('checks foreign keys', async () => {
    const parts = definePipeline({
      name: 'parts',
      schema: 'parts',
      tables: {
        part: {
          source: csv('parts/*.csv'),
          columns: { day: column.integer('day') },
          publish: 'append',
          foreignKeys: [{ columns: 'day', references: { schema: 'days', table: 'known', columns: 'id' } }],
        },
      },
    });
    const load = () => runPipeline(parts, { ...place(), workingDirectory: files.directory });
    await database.query(
      'create table days.known (id integer primary key); insert into days.known values (1)',
    );
    files.write('parts/1.csv', 'day\n1\n');
    await load();
    files.write('parts/2.csv', 'day\n2\n');
    expect(await failureOf(load())).toMatchObject({ code: 'ETL_CONSTRAINT' });
  });

  it('knows the files that it has loaded', async () => {
    const again = await runPipeline(days, { ...place(), workingDirectory: files.directory });
    expect(again).toMatchObject({ outcome: 'unchanged' });
  });

  it('shows when runs began, properties of the server, and when schedules are due', async () => {
    expect(await say('status')).toMatch(/noaa_sql +published/);
    expect(await say('doctor')).toMatch(/encoding +UTF8/);
    await schedule.set('nightly', noaa, { ...place(), directory: 'pipelines', cron: '0 2 * * *' });
    const [nightly] = await schedule.list(place());
    expect(nightly!.next[0]).toMatch(/T02:00:00/);
  });
});

describe('the coordinator of a run', () => {
  const database = useDatabase();

  it.each([
    { set: 'off', has: 'local' },
    { set: 'on', has: 'on' },
    { set: 'remote_write', has: 'remote_write' },
  ])('has $has where commits are $set', async ({ set, has }) => {
    files.write('commits.sql', `create table commits.shown as select current_setting('synchronous_commit')`);
    const asked = definePipeline({
      name: 'commits',
      schema: 'commits',
      tables: { day: { source: csv('days.csv'), columns: { text: column.text('text') } } },
      hooks: { publishing: sqlFile('commits.sql') },
    });
    const databaseUrl = `${database.url}?options=-csynchronous_commit%3D${set}`;
    const { directory } = files;
    const place = { redis: false as const, directory, workingDirectory: directory };
    await runPipeline(asked, { ...place, databaseUrl, fullRefresh: true });
    const { rows } = await database.query('select current_setting from commits.shown');
    await database.query('drop table commits.shown');
    expect(rows).toEqual([{ current_setting: has }]);
  });
});

describe('a database in another encoding', () => {
  it.each(['LATIN1', 'SQL_ASCII'])('%s is refused before any work', async (encoding) => {
    const { url, drop } = await createDatabase(`encoding '${encoding}' locale 'C'`);
    const failure = await failureOf(
      runPipeline(days, { databaseUrl: url, workingDirectory: files.directory }),
    );
    const schemas = await ask(url, `select nspname from pg_namespace where nspname like 'etl%'`);
    await drop();
    expect(failure).toMatchObject({ code: 'ETL_SERVER_ENCODING', details: { encoding } });
    expect(schemas).toEqual([]);
  });
});
