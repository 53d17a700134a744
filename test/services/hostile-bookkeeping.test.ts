// Bookkeeping that an untrusted role created beforehand: none of its code runs, not even for a
// superuser, and the error names it.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import {
  csv,
  column,
  definePipeline,
  joinRun,
  runPipeline,
  sqlFile,
  type RunEvent,
  type RunOptions,
} from '../../src/index.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { readTrust } from '../../src/db/bookkeeping/trust.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { createHostileDatabase, type HostileDatabase } from '../helpers/hostile-database.ts';
import { withPg } from '../helpers/own-server.ts';

const files = useFiles();
files.write('t.csv', 'id\n1\n');
const pipelineFile = files.write(
  'hostile.ts',
  `import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({ name: 'hostile', schema: 'gen', tables: {
    t: { source: csv('${files.directory}/t.csv'), columns: { id: column.integer('id') } } } });`,
);
const pipeline = definePipeline({
  name: 'hostile',
  schema: 'gen',
  tables: { t: { source: csv(`${files.directory}/t.csv`), columns: { id: column.integer('id') } } },
});

const writing: readonly (readonly string[])[] = [
  ['run', pipelineFile],
  ['worker', '--pipelines', files.directory],
  ['enqueue', pipelineFile],
  ['schedule', 'set', 'nightly', pipelineFile, '--cron', '0 2 * * *'],
  ['schedule', 'run-now', 'nightly'],
  ['queue'],
  ['cancel', '1'],
  ['retry', '1'],
];
const writingMost = writing.filter(([command]) => command === 'run' || command === 'queue');
const reading: readonly (readonly string[])[] = [['status'], ['rejects', 'list'], ['schedule', 'list']];

let database: HostileDatabase;
beforeEach(async () => {
  database = await createHostileDatabase();
});
afterEach(() => database.drop());

/** Creates bookkeeping and queue as this program does, as the role of the URL. */
const makeAs = async (url: string): Promise<void> => {
  const address = addressFromUrl(url);
  await withClient(address, (client) => migrate(client));
  await postgresBackend(address).prepare();
};

interface Plant {
  readonly plant: string;
  /** Owner of the bookkeeping; undefined: there is only what is planted. */
  readonly of?: 'stranger' | 'admin';
  /** Who plants it: the untrusted role, or a careless admin. */
  readonly by?: 'admin';
  readonly sql: string;
  /** Text in the error. */
  readonly says: string;
  /** True if reading runs no code: `etl status` and similar commands work. */
  readonly isReadable?: true;
  /** True if every command that writes is tried; otherwise one for tables and one for the queue. */
  readonly isForAll?: true;
}

/** Changes to a table that make others run its owner's code, and the names in the errors. */
const oddities: readonly { readonly plant: string; readonly sql: string; readonly says: string }[] = [
  {
    plant: 'a rule',
    sql: `create rule spy as on insert to etl.run do also select spy.note('rule')`,
    says: 'etl.run has rule spy',
  },
  {
    plant: 'a policy',
    sql: `alter table etl.run enable row level security; alter table etl.run force row level security;
      create policy spy on etl.run using (spy.note('policy') is not null)`,
    says: 'etl.run has policy spy',
  },
  {
    plant: 'a default',
    sql: `alter table etl.run alter error set default spy.note('default')`,
    says: 'default value for column error of table etl.run uses function spy.note(text)',
  },
  {
    plant: 'a check',
    sql: `alter table etl.run add constraint spy check (spy.note('check') is not null) not valid`,
    says: 'constraint spy on table etl.run uses function spy.note(text)',
  },
  {
    plant: 'a domain with a check',
    sql: `create domain spy.name as text check (spy.note(value) is not null); alter table etl.run add hidden spy.name`,
    says: 'table etl.run uses type spy.name',
  },
  {
    plant: 'a child that inherits',
    sql: `create table spy.child () inherits (etl.reject);
      create rule spy as on update to spy.child do also select spy.note('child')`,
    says: 'spy.child inherits from etl.reject',
  },
  {
    plant: 'a generated column',
    sql: `alter table etl.chunk add hidden text generated always as (spy.note('generated')) stored`,
    says: 'column hidden of etl.chunk is generated',
  },
  {
    plant: 'an index whose condition the planner works out, for readers, too',
    sql: `create index spy on etl.run (id) where spy.note('index') is not null`,
    says: 'index etl.spy uses function spy.note(text)',
  },
  {
    plant: 'statistics of an expression',
    sql: `create statistics etl.statistics on (spy.note(host)), id from etl.run`,
    says: 'etl.run has statistics statistics',
  },
  {
    plant: 'an operator in an index',
    sql: `create function spy.same(text, text) returns boolean immutable language sql as 'select true';
      create operator spy.=== (function = spy.same, leftarg = text, rightarg = text);
      create index odd on etl.run (id) where host operator(spy.===) 'x'`,
    says: 'index etl.odd uses operator spy.===(text,text)',
  },
  {
    plant: 'a view in place of a table',
    sql: `alter table etl.source_file rename to hidden;
      create view etl.source_file as select * from etl.hidden where spy.note('view') is not null`,
    says: 'etl.source_file is not a plain table',
  },
  {
    plant: 'a partitioned table',
    sql: `alter table etl.queue rename to other; create table etl.queue (name text) partition by list (name);
      create table spy.queue partition of etl.queue default`,
    says: 'etl.queue is not a plain table',
  },
];

const plants: readonly Plant[] = [
  {
    plant: 'a table etl.migration with a trigger',
    sql: `create schema etl; create table etl.migration (version integer, file text, applied_at timestamptz);
      create trigger spy before insert or update on etl.migration for each row execute function spy.note_row()`,
    says: 'schema etl belongs to mallory_',
    isReadable: true,
    isForAll: true,
  },
  {
    plant: 'a view etl.migration',
    sql: `create schema etl; create view etl.migration as select spy.note('8')::integer as version`,
    says: 'schema etl belongs to mallory_',
  },
  {
    plant: 'bookkeeping of his own, with triggers everywhere',
    of: 'stranger',
    sql: `do $$ declare t text; begin for t in select oid::regclass from pg_class where relkind = 'r'
        and relnamespace in ('etl'::regnamespace, 'etl_queue'::regnamespace) loop
      execute format('create trigger spy before insert or update or delete on %s for each row execute function spy.note_row()', t);
      end loop; end $$`,
    says: 'schema etl belongs to mallory_',
    isReadable: true,
  },
  {
    plant: 'all of the rest at once',
    of: 'stranger',
    sql: oddities.map(({ sql }) => sql).join(';\n') + '; alter sequence spy.called restart',
    says: 'schema etl belongs to mallory_',
  },
  {
    plant: 'functions of BullMQ’s names',
    sql: `create schema etl_queue; create table etl_queue.migration (version integer);
      insert into etl_queue.migration values (99);
      create function etl_queue.add_job(text) returns text language sql as $$ select spy.note('add') $$`,
    says: 'schema etl_queue belongs to mallory_',
    isReadable: true,
    isForAll: true,
  },
  {
    plant: 'a staging table of the name of ours',
    sql: `create schema etl_staging; create table etl_staging.hostile__t (id integer);
      create trigger spy before insert on etl_staging.hostile__t for each row execute function spy.note_row()`,
    says: 'schema etl_staging belongs to mallory_',
    isReadable: true,
  },
  {
    plant: 'a function that BullMQ’s calls fit as well, in a schema that he was let into',
    of: 'admin',
    by: 'admin',
    sql: `grant usage, create on schema etl_queue to STRANGER; set role STRANGER;
      create function etl_queue.get_state(text, text) returns text language sql as $$ select spy.note('state') $$`,
    says: 'function etl_queue.get_state(text,text) belongs to mallory_',
    isReadable: true,
  },
  {
    plant: 'an operator and a type in a schema that he was let into',
    of: 'admin',
    by: 'admin',
    sql: `grant usage, create on schema etl to STRANGER; set role STRANGER;
      create type etl.mood as enum ('good'); create function etl.is(text, etl.mood) returns boolean language sql as 'select true';
      create operator etl.= (function = etl.is, leftarg = text, rightarg = etl.mood)`,
    says: 'operator etl.=(text,etl.mood) belongs to mallory_',
    isReadable: true,
  },
  {
    plant: 'a trigger on a table that he may make triggers on',
    of: 'admin',
    by: 'admin',
    sql: `grant usage on schema etl to STRANGER; grant trigger on etl.run to STRANGER; set role STRANGER;
      create trigger spy before insert on etl.run for each row execute function spy.note_row()`,
    says: 'etl.run has trigger spy, whose function belongs to mallory_',
    isReadable: true,
  },
  {
    plant: 'a function of his in a default of ours',
    of: 'admin',
    by: 'admin',
    sql: `alter table etl.run alter error set default spy.note('default')`,
    says: 'default value for column error of table etl.run uses function spy.note(text)',
  },
];

it('each thing that may run code is named by what it is', async () => {
  await makeAs(database.strangerUrl);
  await withClient(addressFromUrl(database.strangerUrl), async (client) => {
    for (const { plant, sql, says } of oddities) {
      await client.query(`begin; ${sql}`);
      const { strange } = await readTrust(client);
      expect({ plant, strange }).toMatchObject({ strange: expect.arrayContaining([says]) });
      await client.query('rollback');
    }
    expect((await readTrust(client)).strange).toEqual([]);
  });
});

describe('as superuser', () => {
  it.each(plants)('$plant', async ({ of, by, sql, says, isReadable, isForAll }) => {
    const { asAdmin, asStranger, etl, stranger, strangerUrl, url, wasRun } = database;
    if (of !== undefined) await makeAs(of === 'admin' ? url : strangerUrl);
    await (by === 'admin' ? asAdmin : asStranger)(sql.replaceAll('STRANGER', stranger));
    const refusal = {
      exit: 1,
      err: expect.stringMatching(/^error ETL_UNTRUSTED: user \S+ does not trust objects in the database: /),
    };
    for (const args of isForAll ? writing : writingMost) {
      const done = await etl(args);
      expect({ args, ...done }).toMatchObject(refusal);
      expect(done.err).toContain(says);
    }
    for (const args of reading)
      expect({ args, ...(await etl(args)) }).toMatchObject(isReadable ? { err: '' } : refusal);
    const doctor = await etl(['doctor']);
    expect(doctor).toMatchObject({ exit: 1, err: expect.stringContaining('ETL_SERVER_UNFIT') });
    expect(doctor.out).toContain(says);
    expect(await wasRun()).toBe(false);
  });

  it.each([
    {
      plant: 'a build schema of the name of ours',
      sql: `create schema etl_build_hostile; create table etl_build_hostile.t (id integer);
        create trigger spy before insert on etl_build_hostile.t for each row execute function spy.note_row()`,
      says: 'schema etl_build_hostile belongs to mallory_',
    },
    {
      plant: 'a staging table in a schema that he was let into',
      sql: `create table etl_staging.hostile__t (id integer);
        create trigger spy before insert on etl_staging.hostile__t for each row execute function spy.note_row()`,
      says: 'table etl_staging.hostile__t belongs to mallory_',
    },
  ])('with $plant, running or joining that pipeline is refused', async ({ sql, says }) => {
    const { asAdmin, asStranger, etl, stranger, url, wasRun } = database;
    await makeAs(url);
    await asAdmin(`grant usage, create on schema etl_staging to ${stranger}`);
    await asStranger(sql);
    expect(await etl(['run', pipelineFile])).toMatchObject({ exit: 1, err: expect.stringContaining(says) });
    const error = await failureOf(joinRun(pipeline, { databaseUrl: url, directory: files.directory }));
    expect(error).toMatchObject({ code: 'ETL_UNTRUSTED', message: expect.stringContaining(says) });
    expect(await wasRun()).toBe(false);
  });

  it('what belongs to a role is not trusted because the stranger made us its members', async () => {
    const { addRole, asAdmin, asStranger, etl, stranger, url } = database;
    const name = new URL(url).pathname.slice(1);
    const [gang, admin, loader] = [
      await addRole('gang'),
      await addRole('admin', 'superuser'),
      await addRole('loader'),
    ];
    await asAdmin(
      `grant ${gang.role} to ${stranger} with admin option; grant create on database ${name} to ${gang.role}`,
    );
    await asStranger(
      `grant ${gang.role} to ${admin.role}, ${loader.role}; create schema etl authorization ${gang.role}`,
    );
    for (const victim of [admin, loader])
      expect((await etl(['run', pipelineFile], victim.url)).err).toContain('schema etl belongs to gang_');
    // A role with CREATEROLE is trusted by the roles that its administrators created, and by no
    // superuser.
    await asAdmin(`alter role ${stranger} createrole`);
    expect((await etl(['run', pipelineFile], admin.url)).err).toContain('schema etl belongs to gang_');
    await asAdmin(`alter role ${stranger} nocreaterole`);
    // Acting as this role after a login as superuser changes nothing.
    await asAdmin(`alter role ${admin.role} set role ${gang.role}`);
    expect((await etl(['run', pipelineFile], admin.url)).err).toContain('schema etl belongs to gang_');
  });

  it('a schema made between the look and the migration is refused, too', async () => {
    const { asStranger, url, wasRun } = database;
    const error = await withClient(addressFromUrl(url), async (client) => {
      const query = client.query.bind(client);
      // The decisive time: the check has found an empty database.
      Object.assign(client, {
        query: async (...args: Parameters<typeof query>) => {
          if (args[0].startsWith('begin'))
            await asStranger(`create schema etl_staging; create schema etl; create table etl.migration
              (version integer, file text, applied_at timestamptz);
              create trigger spy before insert on etl.migration for each row execute function spy.note_row()`);
          return query(...args);
        },
      });
      return failureOf(migrate(client));
    });
    expect(error).toMatchObject({ code: 'ETL_UNTRUSTED' });
    expect(await wasRun()).toBe(false);
  });
});

/**
 * The untrusted role creates tables that a run loads into after the check, while the run waits for
 * a lock.
 */
describe('what is made between the look and the use', () => {
  const stagingTable = `create table etl_staging.hostile__t (id integer);
    create trigger spy before insert on etl_staging.hostile__t for each row execute function spy.note_row()`;

  /** Runs `plant` when the session waits for the epoch, which is read after preflight. */
  const plantMeanwhile = async <T>(plant: string, start: () => Promise<T>): Promise<T> =>
    withPg(database.url, async (client) => {
      await client.query('begin; lock etl.canary in access exclusive mode');
      let isOver = false;
      const started = start().finally(() => (isOver = true));
      const waits = `select from pg_locks where relation = 'etl.canary'::regclass and not granted`;
      while (!isOver && (await client.query(waits)).rows.length === 0) await sleep(10);
      expect(isOver).toBe(false);
      await database.asStranger(plant);
      await client.query('commit');
      return started;
    });

  const run = (what: typeof pipeline, options?: RunOptions) =>
    failureOf(
      runPipeline(what, { databaseUrl: database.url, directory: files.directory, workers: 1, ...options }),
    );

  /** Stops a run; from then on, others may create tables in staging. */
  const stopAt = async (what: typeof pipeline, moment: RunEvent['type']): Promise<void> => {
    const stop = new AbortController();
    const onEvent = ({ type }: RunEvent): void => void (type === moment && stop.abort());
    expect(await run(what, { signal: stop.signal, onEvent })).toMatchObject({ code: 'ETL_INTERRUPTED' });
    await database.asAdmin(`grant usage, create on schema etl_staging to ${database.stranger}`);
  };

  it('a staging table that was gone when the run looked is not loaded into', async () => {
    await stopAt(pipeline, 'planned');
    await database.asAdmin('drop table etl_staging.hostile__t');
    expect(await plantMeanwhile(stagingTable, () => run(pipeline))).toMatchObject({
      code: 'ETL_UNTRUSTED',
      message: expect.stringContaining('table etl_staging.hostile__t belongs to mallory_'),
    });
    expect(await database.wasRun()).toBe(false);
  });

  it('a build schema is not on the path of SQL files', async () => {
    files.write('noted.sql', `select id, shown('x') as note from t`);
    const twin = (staging: 'none' | 'typed') => {
      const own = { source: csv(`${files.directory}/t.csv`), columns: { id: column.integer('id') } };
      return definePipeline({
        name: 'hostile',
        schema: 'gen',
        tables: { t: { ...own, staging }, u: own, noted: { from: ['t'], transform: sqlFile('noted.sql') } },
      });
    };
    await database.asAdmin(
      `create schema gen; create function gen.shown(text) returns text language sql as 'select $1'`,
    );
    await stopAt(twin('typed'), 'building');
    await database.asAdmin('drop schema if exists etl_build_hostile cascade');
    const schema = `create schema etl_build_hostile; grant all on schema etl_build_hostile to public;
      create function etl_build_hostile.shown(text) returns text language sql as $$ select spy.note('sql') $$`;
    expect(await plantMeanwhile(schema, () => run(twin('none')))).toMatchObject({
      code: 'ETL_UNTRUSTED',
      message: expect.stringContaining('schema etl_build_hostile belongs to mallory_'),
    });
    expect(await database.wasRun()).toBe(false);
  });

  it('a joining process does not load into a table that was made after its check', async () => {
    await stopAt(pipeline, 'planned');
    // Without a queue there would be nothing to join.
    await postgresBackend(addressFromUrl(database.url)).prepare();
    await database.asAdmin(`drop table etl_staging.hostile__t; update etl.run set state = 'loading'`);
    const join = () =>
      failureOf(joinRun(pipeline, { databaseUrl: database.url, directory: files.directory }));
    expect(await join()).toMatchObject({
      code: 'ETL_JOIN_REFUSED',
      message: expect.stringContaining('its tables do not exist any more'),
    });
    expect(await plantMeanwhile(stagingTable, join)).toMatchObject({ code: 'ETL_UNTRUSTED' });
    expect(await database.wasRun()).toBe(false);
  });
});

describe('what is found before there is any bookkeeping', () => {
  it('tables of another program in a schema etl: every command names them, and none touches them', async () => {
    const { addRole, asAdmin, etl } = database;
    const admin = await addRole('admin', 'superuser');
    await asAdmin(`create schema etl; create table etl.run (id serial primary key, note text);
      insert into etl.run (note) values ('mine'); alter table etl.run owner to ${admin.role}; alter schema etl owner to ${admin.role}`);
    for (const args of [...reading, ['run', pipelineFile], ['enqueue', pipelineFile], ['queue']]) {
      const { exit, err } = await etl(args, admin.url);
      expect([exit, err], args.join(' ')).toEqual([
        1,
        expect.stringContaining('no migration created etl.run'),
      ]);
    }
    expect((await etl(['doctor'], admin.url)).out).toContain('no migration created etl.run');
  });

  it('a build schema and staging of a stranger: doctor names what keeps single pipelines from running', async () => {
    const { addRole, asAdmin, asStranger, etl, stranger } = database;
    const admin = await addRole('admin', 'superuser');
    await makeAs(admin.url);
    await asAdmin(`grant create, usage on schema etl_staging to ${stranger}`);
    await asStranger(`create schema etl_build_fresh; create table etl_staging.depot__parcel ()`);
    const { out } = await etl(['doctor'], admin.url);
    expect(out).toMatch(
      /owners of pipelines +schema etl_build_fresh belongs to .*etl_staging\.depot__parcel belongs to/,
    );
  });
});

describe('a role that is trusted', () => {
  const published = { exit: 0 };

  it('owns what a superuser then reads, and runs only when the role was granted to him', async () => {
    const { addRole, asAdmin, etl, url } = database;
    const name = new URL(url).pathname.slice(1);
    const loader = await addRole('loader');
    const admin = await addRole('admin', 'superuser');
    await asAdmin(`grant create on database ${name} to ${loader.role}`);
    expect(await etl(['run', pipelineFile], loader.url)).toMatchObject(published);
    for (const args of reading) expect(await etl(args, admin.url)).toMatchObject({ exit: 0, err: '' });
    expect((await etl(['status'], admin.url)).out).toContain('published');
    expect((await etl(['doctor'], admin.url)).out).toMatch(/owners +schema etl belongs to loader_/);
    expect((await etl(['doctor'], admin.url)).out).toMatch(/bookkeeping schema +version/);
    expect(await etl(['run', pipelineFile], admin.url)).toMatchObject({
      err: expect.stringContaining('ETL_UNTRUSTED'),
    });
    await asAdmin(`grant ${loader.role} to ${admin.role}`);
    expect(await etl(['run', pipelineFile], admin.url)).toMatchObject(published);
    expect((await etl(['doctor'], admin.url)).out).toMatch(/owners +roles that this user trusts/);
  });

  it('is one that two loaders are members of, side by side, each with a pipeline of its own', async () => {
    const { addRole, asAdmin, etl, url } = database;
    const name = new URL(url).pathname.slice(1);
    const owner = await addRole('owner');
    const [anna, bert] = [await addRole('anna'), await addRole('bert')];
    await asAdmin(`grant create on database ${name} to ${owner.role};
      grant ${owner.role} to ${anna.role}, ${bert.role}`);
    await makeAs(owner.url);
    expect(await etl(['run', pipelineFile, '--keep-staging'], anna.url)).toMatchObject(published);
    const other = files.write(
      'other.ts',
      `import { column, csv, definePipeline } from 'sluice';
      export default definePipeline({ name: 'other', schema: 'gen_other', tables: {
        t: { source: csv('${files.directory}/t.csv'), columns: { id: column.integer('id') } } } });`,
    );
    expect(await etl(['run', other], bert.url)).toMatchObject(published);
    expect(await etl(['run', other], anna.url)).toMatchObject({
      err: expect.stringMatching(/ETL_PERMISSION: user anna_\w+ may not .*replace table gen_other.t/),
    });
  });

  it('is the owner of the database, but not for a superuser; a trigger of a trusted role is allowed', async () => {
    const { addRole, asAdmin, etl, url } = database;
    const name = new URL(url).pathname.slice(1);
    const [landlord, loader] = [await addRole('landlord'), await addRole('loader')];
    await asAdmin(`alter database ${name} owner to ${landlord.role}`);
    await makeAs(landlord.url);
    expect((await etl(['queue'])).err).toContain('schema etl belongs to landlord_');
    await asAdmin(`create function public.audit() returns trigger language plpgsql as 'begin return new; end';
      create trigger audit before insert on etl.run for each row execute function public.audit();
      grant create on database ${name} to ${loader.role};
      grant usage on schema etl to ${loader.role}; grant usage, create on schema etl_queue, etl_staging to ${loader.role};
      grant all on all tables in schema etl, etl_queue to ${loader.role};
      grant usage on all sequences in schema etl, etl_queue to ${loader.role}`);
    expect(await etl(['run', pipelineFile], loader.url)).toMatchObject(published);
    await asAdmin(`alter database ${name} owner to current_user`);
  });
});
