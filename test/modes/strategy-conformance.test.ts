// What every Strategy must do, asked of each one that is registered: one row here, and a step that fails changes nothing.

import { rmSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hash, list, runPipeline, sqlFile } from '../../src/index.ts';
import type { Strategy } from '../../src/publish/modes/contract.ts';
import type { DeclaredTable } from '../../src/publish/table/tables.ts';
import { strategies, ways } from '../../src/publish/modes/registry.ts';
import { allRows } from '../../src/publish/modes/replace/mode.ts';
import { catalogueOf, dependents, settings } from '../helpers/catalogue.ts';
import { citiesPipeline, writeCities } from '../helpers/cities.ts';
import { useFiles } from '../helpers/files.ts';
import { withPg } from '../helpers/own-server.ts';
import { forgetRuns, useDatabase } from '../helpers/server.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

/** What makes production such that a strategy is chosen, and what it then says. */
interface Scene {
  readonly name: string;
  /** Left out: the name is that of the strategy. */
  readonly strategy?: string;
  readonly publish: string | { readonly mode: string; readonly only: string };
  readonly change?: object;
  /** Starts a run whose files production has already. */
  readonly again: object;
  readonly ddl: string;
  /** Notices about the table. */
  readonly warned: readonly unknown[];
  readonly isSameTable: boolean;
  /** The file that is written then, and the rows that production has with it. */
  readonly file: string;
  readonly content: string;
  readonly fresh: readonly unknown[];
}

const replaced = {
  file: 'city.csv',
  content: 'id,name,people\n2,Trier,120001\n3,Jena,120001\n',
  fresh: [{ city: '2Trier120001 3Jena120001', big: 'Trier Jena' }],
};

/** Of a table whose other partitions stay. */
const touched = {
  publish: { mode: 'replace', only: 'touched' },
  change: { partitionBy: list('id') },
  again: {},
  isSameTable: true,
  file: 'city.csv',
  content: 'id,name,people\n1,Ulm,120000\n2,Trier,120001\n',
  fresh: [{ city: '1Ulm120000 2Trier120001', big: 'Ulm Trier' }],
};

const scenes: readonly Scene[] = [
  {
    name: 'partitions',
    publish: 'replace',
    change: { partitionBy: hash('id', 2) },
    again: { fullRefresh: true },
    ...replaced,
    ddl: 'create materialized view geo.names as select name from geo.city',
    warned: [],
    isSameTable: true,
  },
  {
    name: 'partitions, and nothing hangs on their table but a view',
    strategy: 'partitions',
    publish: 'replace',
    change: { partitionBy: hash('id', 2) },
    again: { fullRefresh: true },
    ...replaced,
    ddl: 'create view geo.names as select name from geo.city',
    warned: [],
    isSameTable: false,
  },
  {
    name: 'swap',
    publish: 'replace',
    again: { fullRefresh: true },
    ddl: '',
    warned: [],
    isSameTable: false,
    ...replaced,
  },
  {
    name: 'in place',
    publish: 'replace',
    again: { fullRefresh: true },
    ...replaced,
    ddl: 'create view geo.names as select name from geo.city',
    warned: [
      expect.stringMatching(/^geo\.city: rows are replaced in place because of view geo\.names;/) as unknown,
    ],
    isSameTable: true,
  },
  {
    name: 'append',
    publish: 'append',
    again: {},
    ddl: 'create view geo.names as select name from geo.city',
    warned: [],
    isSameTable: true,
    file: 'city-2.csv',
    content: 'id,name,people\n3,Jena,120001\n',
    fresh: [{ city: '1Ulm120000 2Trier110000 3Jena120001', big: 'Ulm Jena' }],
  },
  {
    name: 'rebuild',
    publish: 'merge',
    change: { publish: { mode: 'merge', by: 'rebuild' } },
    again: {},
    ddl: '',
    warned: ['geo.city: 2 rows of 2 change, so a new table was built and is swapped in'],
    isSameTable: false,
    file: 'city-2.csv',
    content: 'id,name,people\n2,Trier,120001\n3,Jena,120001\n2,Trier,120002\n',
    fresh: [{ city: '1Ulm120000 2Trier120002 3Jena120001', big: 'Ulm Trier Jena' }],
  },
  {
    name: 'merge',
    publish: 'merge',
    again: {},
    ddl: 'create view geo.names as select name from geo.city',
    warned: [],
    isSameTable: true,
    file: 'city-2.csv',
    content: 'id,name,people\n2,Trier,120001\n3,Jena,120001\n2,Trier,120002\n',
    fresh: [{ city: '1Ulm120000 2Trier120002 3Jena120001', big: 'Ulm Trier Jena' }],
  },
  {
    name: 'history',
    publish: 'history',
    again: {},
    ddl: 'create view geo.names as select name from geo.city',
    warned: [],
    isSameTable: true,
    file: 'city-2.csv',
    content: 'id,name,people\n1,Ulm,120000\n3,Jena,120001\n',
    fresh: [{ city: '1Ulm120000 2Trier110000 3Jena120001', big: 'Ulm Jena' }],
  },
  {
    name: "partitions, only: 'touched'",
    strategy: 'partitions',
    ...touched,
    ddl: 'create view geo.names as select name from geo.city',
    warned: [],
  },
  {
    name: "in place, only: 'touched'",
    strategy: 'in place',
    ...touched,
    ddl: 'create table geo.looked (city integer references geo.city)',
    warned: [
      expect.stringMatching(/^geo\.city: rows are replaced in place because of foreign key/) as unknown,
    ],
  },
];

/** The server takes these of a partition, not of a divided table; every division here has the partition 1. */
const settingsDivided = settings
  .replace(', alter name type text collate "C"', '')
  .replace('table geo.city set (', 'table geo.city_1 set (')
  .replace('table geo.city cluster on city_name_idx', 'table geo.city_1 cluster on city_name_idx_1')
  .replace('alter index geo.city_name_idx', 'alter index geo.city_name_idx_1')
  .replaceAll(/grant select on geo\.city to .*;/g, (grant) => `${grant} ${grant.replace('city', 'city_1')}`);

const dependentsWithout = (pattern: RegExp): string =>
  dependents
    .split('\n')
    .filter((line) => !pattern.test(line))
    .join('\n');

/** What a divided table can have, and keeps while its partitions are exchanged: nothing here has to see the rows. */
const dependentsDivided = dependentsWithout(/ geo\.visit |trigger|rule noted|inherits|publication/).replace(
  ', add constraint named unique (name)',
  '',
);

/** No other table refers to a key that has the time of a version. */
const dependentsOfVersions = dependentsWithout(/ geo\.visit /);

it('each has its row here, and its name in the reference', () => {
  const names = strategies.map(({ name }) => name);
  expect([...new Set(scenes.map(({ name, strategy = name }) => strategy))]).toEqual(names);
  for (const name of names) expect(readProjectFile('docs/reference/events.md')).toContain(`\`${name}\`: `);
});

it('take a first table', () =>
  expect(allRows.strategies.some((one) => one.takes({} as DeclaredTable, undefined))).toBe(true));

/** What publishes a table on which something depends, where it is another strategy. */
const stays: Readonly<Record<string, string>> = { swap: 'in place', rebuild: 'merge' };

/** Where a run may fail; `finish` and `last` are what `apply` leaves to do. */
const steps = ['check', 'build', 'notice', 'apply', 'verify', 'finish', 'last'] as const;
type Step = (typeof steps)[number];

/** Calls `then` after each step, which is really done; `last` follows the statements of the last message. */
const follow = (
  strategy: Strategy,
  then: (step: Step) => Promise<void> | undefined,
  last: readonly string[] = [],
): void => {
  const { check, notice, apply, verify } = strategy;
  vi.spyOn(strategy, 'check').mockImplementation((...given) => {
    check(...given);
    void then('check');
  });
  vi.spyOn(strategy, 'notice').mockImplementation((plan) => {
    void then('notice');
    return notice(plan);
  });
  const own = ways.find(({ strategies: all }) => all.includes(strategy))!;
  const { complete } = own;
  vi.spyOn(own, 'complete').mockImplementation(async (work) => {
    const completeNow = await complete(work);
    return async () => {
      await completeNow();
      await then('build');
    };
  });
  vi.spyOn(strategy, 'apply').mockImplementation(async (...given) => {
    const rest = await apply(...given);
    await then('apply');
    const finish = async () => {
      await rest.finish?.();
      await then('finish');
    };
    return { ...rest, finish, last: [...(rest.last ?? []), ...last] };
  });
  if (verify === undefined) return;
  vi.spyOn(strategy as Required<Strategy>, 'verify').mockImplementation(async (...given) => {
    const rows = await verify(...given);
    await then('verify');
    return rows;
  });
};

/** `notice` and `verify` change nothing. */
const failing = steps.filter((step) => step !== 'notice' && step !== 'verify' && step !== 'check');

describe.each(scenes)('$name', (scene) => {
  const {
    name: title,
    strategy: name = title,
    publish,
    change,
    again,
    ddl,
    warned,
    isSameTable,
    fresh,
  } = scene;
  const isDivided = change !== undefined && 'partitionBy' in change;
  const files = useFiles();
  const database = useDatabase();
  const strategy = strategies.find((one) => one.name === name)!;
  const source = writeCities(files).replace('city.csv', 'city*.csv');
  const rowsOf = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

  const run = (options: object = {}, pipeline = citiesPipeline(source, { publish, ...change })) =>
    runPipeline(pipeline, {
      databaseUrl: database.url,
      directory: files.directory,
      workers: 1,
      ...options,
    });

  /** One snapshot of both tables. */
  const rowsSql = `select (select string_agg(id || name || people, ' ' order by id) from geo.city) as city,
    (select string_agg(name, ' ' order by id) from geo.big) as big`;
  const rowsAfter = publish === 'replace' || typeof publish !== 'string' ? 2 : 3;
  const old = [{ city: '1Ulm120000 2Trier110000', big: 'Ulm' }];

  const kept = () => catalogueOf(database);
  const oids = () => rowsOf(`select 'geo.city'::regclass::oid as city, 'geo.big'::regclass::oid as big`);

  /** Publishes the old rows, sets what people set, and writes the file of the new ones. */
  const prepare = async (): Promise<void> => {
    await database.query(`drop schema if exists geo cascade; ${forgetRuns}`);
    rmSync(`${files.directory}/${scene.file}`, { force: true });
    writeCities(files);
    await run();
    await database.query(`do $$ begin
        if not exists (select from pg_roles where rolname = 'sluice_owner') then create role sluice_owner; end if;
      end $$`);
    await database.query(`${isDivided ? settingsDivided : settings}
      ${ddl};
      grant usage, create on schema geo to sluice_owner;
      alter table geo.city owner to sluice_owner`);
    files.write(scene.file, scene.content);
  };
  beforeAll(prepare);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(failing)('a failure right after %s leaves production as it was, and nothing else', async (step) => {
    const before = [await oids(), await kept()];
    const strike = (at: Step): undefined => {
      if (at === step) throw new Error('struck');
    };
    follow(strategy, strike, step === 'last' ? ['select 1 / 0;'] : []);
    await expect(run(again)).rejects.toThrow(step === 'last' ? 'division by zero' : 'struck');
    expect(await rowsOf(rowsSql)).toEqual(old);
    expect([await oids(), await kept()]).toEqual(before);
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
    expect(await rowsOf(`select max(rows)::int as rows from etl.published_table where run_id > 1`)).toEqual([
      { rows: null },
    ]);
  });

  it('rows that are not all that was copied are refused', async () => {
    files.write(
      'lose.sql',
      'delete from etl_staging.cities__city where id = (select max(id) from etl_staging.cities__city)',
    );
    const losing = citiesPipeline(source, { publish, ...change }, 'cities', { after: sqlFile('lose.sql') });
    await expect(run(again, losing)).rejects.toMatchObject({
      code: 'ETL_INCOMPLETE',
      message: expect.stringContaining('found in staging') as unknown,
    });
    expect(await rowsOf(rowsSql)).toEqual(old);
  });

  it('readers see the old rows up to the commit, then the new ones; what people set stays; the run is recorded', async () => {
    onTestFinished(prepare);
    const before = await kept();
    const [oid] = await oids();
    const within: unknown[] = [];
    follow(strategy, async () => void within.push(...(await rowsOf(rowsSql))));
    const notices: string[] = [];
    const onEvent = (event: { type: string; message?: string }) =>
      event.type === 'notice' && notices.push(event.message!);
    const seen = new Set<string>();
    const result = await withPg(database.url, async (reader) => {
      const look = async () => seen.add(JSON.stringify((await reader.query(rowsSql)).rows));
      await look();
      let isReading = true;
      const reading = (async () => {
        while (isReading) await look();
      })();
      const published = await run({ onEvent }).finally(() => (isReading = false));
      await reading;
      await look();
      return published;
    });

    expect(new Set(within.map((row) => JSON.stringify([row])))).toEqual(new Set([JSON.stringify(old)]));
    expect(within.length).toBeGreaterThanOrEqual(steps.length - (strategy.verify === undefined ? 2 : 1));
    expect(seen).toEqual(new Set([JSON.stringify(old), JSON.stringify(fresh)]));
    expect(await kept()).toEqual(before);
    const [now] = await oids();
    expect((now as { city: number }).city === (oid as { city: number }).city).toBe(isSameTable);
    expect(result.tables).toMatchObject([
      { table: 'city', strategy: name, rowsBefore: 2, rows: rowsAfter },
      {
        table: 'big',
        strategy: strategies.find((one) => one.name === name)!.writes ? 'in place' : 'swap',
        rowsBefore: 1,
        rows: publish === 'merge' ? 3 : 2,
      },
    ]);
    expect(
      await rowsOf(`select strategy, rows::int, table_oid = 'geo.city'::regclass as "isIt" from etl.published_table
        where table_name = 'city' order by run_id desc limit 1`),
    ).toEqual([{ strategy: name, rows: rowsAfter, isIt: true }]);
    const about = notices.filter((message) => message.startsWith('geo.city: '));
    expect(about).toEqual(warned);
    expect(await run()).toMatchObject({ outcome: 'unchanged', runId: result.runId });
  });

  it('everything that hangs on the table stays as it is; a table that was swapped is one that stays then', async () => {
    onTestFinished(prepare);
    await database.query(
      name === 'history' ? dependentsOfVersions : isDivided ? dependentsDivided : dependents,
    );
    const before = await kept();
    const { tables } = await run(again);
    expect(tables[0]!.strategy).toBe(stays[name] ?? name);
    expect(await rowsOf(rowsSql)).toEqual(fresh);
    expect(await kept()).toEqual(before);
  });
});
