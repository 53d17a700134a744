// What PostgreSQL does to unlogged tables when it ends, in every way in which it can end; published observations, made
// again on a real server, because staging and the crash epoch are built on them.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, runPipeline, sqlFile } from '../../src/index.ts';
import { currentEpoch } from '../../src/ledger/run/epoch.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { hasTwice } from '../../src/publish/modes/merge/merge-rows.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { ask, askUntil, startOwnServer, untilGone, withPg, type OwnServer } from '../helpers/own-server.ts';

const files = useFiles();
let own: OwnServer;
beforeAll(async () => {
  // The log is written when somebody commits, and not meanwhile.
  own = await startOwnServer({ wal_writer_delay: '10s' });
});
afterAll(() => own?.remove());

const url = (): string => own.server.url;

interface Kept {
  readonly logged: number;
  readonly unlogged: number;
}

const count = async (): Promise<Kept> => {
  const [kept] = await ask<Kept>(
    url(),
    `select (select count(*)::int from logged) as logged, (select count(*)::int from unlogged) as unlogged`,
  );
  return kept!;
};

const epoch = (): Promise<string> =>
  withClient(addressFromUrl(url()), async (client) => {
    await migrate(client);
    return currentEpoch(client);
  });

/** 100 rows, a checkpoint that writes them to disk, and 100 more. */
const fill = async (): Promise<void> => {
  const insert = (table: string): string => `insert into ${table} select generate_series(1, 100);`;
  await ask(url(), 'drop table if exists logged, unlogged');
  await ask(url(), 'create table logged (n integer); create unlogged table unlogged (n integer)');
  await ask(url(), insert('logged') + insert('unlogged'));
  await ask(url(), 'checkpoint');
  await ask(url(), insert('logged') + insert('unlogged'));
};

const killWalWriter = async (): Promise<void> => {
  const select = `select pid from pg_stat_activity where backend_type = 'walwriter'`;
  const [writer] = await ask<{ pid: number }>(url(), select);
  const gone = untilGone(writer!.pid);
  process.kill(writer!.pid, 'SIGKILL');
  await gone;
  await askUntil<{ pid: number }>(url(), select, ({ pid }) => pid !== writer!.pid);
};

const endings: readonly { name: string; end: () => Promise<unknown>; unlogged: number }[] = [
  {
    name: 'fast stop and start: an unlogged table keeps its rows',
    end: async () => {
      await own.stop();
      await own.start();
    },
    unlogged: 200,
  },
  {
    name: 'smart stop and start: an unlogged table keeps its rows',
    end: async () => {
      await own.end('SIGTERM');
      await own.start();
    },
    unlogged: 200,
  },
  {
    name: 'SIGKILL of the postmaster: an unlogged table is emptied, of checkpointed rows too',
    end: async () => {
      await own.end('SIGKILL');
      await own.start();
    },
    unlogged: 0,
  },
  {
    name: 'immediate stop: an unlogged table is emptied, of checkpointed rows too',
    end: async () => {
      await own.end('SIGQUIT');
      await own.start();
    },
    unlogged: 0,
  },
  {
    name: 'SIGKILL of the walwriter: an unlogged table is emptied, of checkpointed rows too',
    end: killWalWriter,
    unlogged: 0,
  },
];

describe('a logged table keeps every row, and the epoch changes with the loss', () => {
  it.each(endings)('$name', async ({ end, unlogged }) => {
    await fill();
    const before = await epoch();
    await end();
    expect(await count()).toEqual({ logged: 200, unlogged });
    const after = await epoch();
    expect(after === before).toBe(unlogged > 0);
    expect(await epoch()).toBe(after);
  });
});

it('the postmaster survives the death of the walwriter and recovers by itself', async () => {
  const select = `select pg_postmaster_start_time()::text as started,
    (select backend_start > $$TIME$$ from pg_stat_activity where backend_type = 'checkpointer') as "isNew"`;
  const [now] = await ask<{ now: string; started: string }>(
    url(),
    'select clock_timestamp()::text as now, pg_postmaster_start_time()::text as started',
  );
  const { pid } = own.server;
  await killWalWriter();
  expect(await ask(url(), select.replace('TIME', now!.now))).toEqual([
    { started: now!.started, isNew: true },
  ]);
  expect((await own.start()).pid).toBe(pid);
});

it('a foreign key from a logged table to an unlogged one is refused', async () => {
  await ask(url(), 'create unlogged table lost (id integer primary key)');
  await expect(ask(url(), 'create table kept (id integer references lost)')).rejects.toMatchObject({
    code: '42P16',
  });
});

describe('an unlogged table whose transaction was rolled back', () => {
  it('keeps a server from recovering once, if it crashes before its log has the rollback: it is started again', async () => {
    await ask(url(), 'create table others (n integer)');
    await withPg(url(), async (client) => {
      await client.query('begin; create unlogged table undone (n integer primary key)');
      await ask(url(), 'insert into others values (1)');
      await client.query('rollback');
      await own.end('SIGQUIT');
    });
    await own.start();
    expect(await ask(url(), 'select n from others')).toEqual([{ n: 1 }]);
  });

  it('is none of the keys of a merge', async () => {
    await ask(
      url(),
      'create unlogged table public.etl_keys (n integer); insert into public.etl_keys values (1), (2)',
    );
    const log = readFileSync(own.logFile, 'utf8');
    let isTwice: boolean | undefined;
    await withClient(addressFromUrl(url()), async (client) => {
      await client.query('begin');
      // Somebody commits when the index has just been made, and nobody after that.
      const query = async (sql: string) => {
        const answer = await client.query(sql);
        if (sql.startsWith('create')) await ask(url(), 'insert into others values (2)');
        return answer;
      };
      const watched = Object.assign(Object.create(client) as typeof client, { query });
      isTwice = await hasTwice(watched, { primaryKey: ['n'], staging: '"public"."etl_keys"' });
      await own.end('SIGQUIT');
    }).catch(() => undefined);
    expect(isTwice).toBe(false);
    await own.start();
    expect(await ask(url(), 'select n from others')).toEqual([{ n: 1 }, { n: 2 }]);
    expect(readFileSync(own.logFile, 'utf8').slice(log.length)).not.toContain('could not create file');
  });

  it('is none of a rehearsal', async () => {
    await epoch();
    await ask(
      url(),
      `create function refuse() returns event_trigger language plpgsql as $$ begin
          if exists (select from pg_event_trigger_ddl_commands() join pg_class c on c.oid = objid and classid = 'pg_class'::regclass
              where relpersistence = 'u' and relname <> 'shop__sale') then raise exception 'unlogged'; end if; end $$;
        create event trigger refusing on ddl_command_end execute function refuse()`,
    );
    const file = files.write('sales.csv', 'id\n1\n');
    const pipeline = definePipeline({
      name: 'shop',
      schema: 'shop',
      tables: { sale: { source: csv(file), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
    });
    const options = { databaseUrl: url(), directory: files.directory, workers: 1 };
    expect(await runPipeline(pipeline, options)).toMatchObject({ outcome: 'published' });
    await expect(ask(url(), 'create unlogged table public.other ()')).rejects.toThrow('unlogged');
  });
});

it('a run that goes on after a crash keeps what it has loaded of a table without staging, and loads corrections of others again', async () => {
  const direct = definePipeline({
    name: 'direct',
    schema: 'direct',
    tables: {
      t: {
        source: csv(`${files.directory}/direct/*.csv`),
        columns: { id: column.integer('id') },
        staging: 'none',
        rejectLimit: 1,
      },
      u: {
        source: csv(files.write('u.csv', 'id\n5\nx\n')),
        columns: { id: column.integer('id') },
        rejectLimit: 1,
      },
      sums: { from: ['t'], transform: sqlFile('sums.sql') },
    },
  });
  const options = { databaseUrl: url(), directory: files.directory, workers: 1 };
  const chunks = () => ask(url(), 'select file_id, committed_at from etl.chunk order by 1');
  await ask(url(), 'drop event trigger if exists refusing');
  files.write('direct/a.csv', 'id\n1\nx\n');
  files.write('sums.sql', 'select 1 / (count(*) - count(*)) as n from t');
  const stopped = await failureOf(runPipeline(direct, options));
  const loaded = await chunks();
  const io = fakeIo({ env: { DATABASE_URL: url() }, workingDirectory: files.directory });
  await main(['rejects', 'export', '--pipeline', 'direct', '--table', 'u'], io);
  files.write('fixed.csv', io.stdout.text.replace(/,x(?=\r\n$)/, ',6'));
  expect(await main(['rejects', 'replay', 'fixed.csv'], io)).toBe(0);
  await failureOf(runPipeline(direct, options));
  expect(await ask(url(), 'select outcome from etl.corrected')).toEqual([{ outcome: 'copied' }]);
  await own.end('SIGQUIT');
  await own.start();
  files.write('direct/b.csv', 'id\n2\n');
  files.write('sums.sql', 'select count(*) as n from t');
  const { runId, tables } = await runPipeline(direct, options);
  expect(runId).toBe(stopped.run);
  expect(tables).toMatchObject([{ rows: 2, rejected: 1 }, { rows: 2, rejected: 0 }, {}]);
  expect(await ask(url(), 'select id from direct.u order by id')).toEqual([{ id: 5 }, { id: 6 }]);
  expect(await chunks()).toContainEqual(loaded[0]);
  const rejects = `select raw from etl.reject where run_id = ${runId}`;
  expect(await ask(url(), rejects)).toEqual([{ raw: 'x' }]);
});
