// What the plan says is what the run does, night after night, in every mode; and making the plan changes nothing.
//
// Each row makes the plan, then runs, and compares them: the outcome or the refusal, the files, the way of publishing, the table that
// stays or is replaced, and whether its shape changes. Rows of one story go on with what the rows before them have left.

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, env, expect as expected, index, range } from '../../src/index.ts';
import { EtlError, sqlFile, webhook, type Pipeline, type RunResult } from '../../src/index.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl, type ServerAddress } from '../../src/db/connect/address.ts';
import { tryLockPipeline } from '../../src/db/session/advisory-lock.ts';
import { rollbackPipeline } from '../../src/tools/rollback.ts';
import type { RunPlan } from '../../src/run/plan/contract.ts';
import { makePlan } from '../../src/tools/make-plan.ts';
import { planLines } from '../../src/cli/text/plan-text.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, run, startOver } = usePipelineRuns();
const write = (name: string, ...rows: string[]): string =>
  files.write(`in/${name}.csv`, ['id,day,pieces,note', ...rows, ''].join('\n'));
const remove = (name: string): void => rmSync(`${files.directory}/in/${name}.csv`);
const sql = (text: string): string => files.write('total.sql', text);

const base = { id: column.integer('id'), day: column.date('day'), pieces: column.integer('pieces') };
/** `change` alters the table of sales, `more` the pipeline. */
const shop = (change: object = {}, more: object = {}, total: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      sale: { source: csv('in/*.csv'), columns: base, primaryKey: ['id', 'day'], guard: false, ...change },
      total: { from: ['sale'], transform: sqlFile('total.sql'), ...total },
    },
    ...more,
  } as never);

/** Everything that anybody might see of the database, but for what the server does by itself. */
const everything = async (): Promise<unknown> => {
  const tables =
    await rowsOf(`select c.oid::regclass::text as name, c.oid::text, c.relkind::text, c.relfilenode::text, c.relacl::text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where nspname !~ '^pg_toast|^pg_catalog|^information' order by c.oid`);
  const schemas = await rowsOf('select nspname, nspacl::text from pg_namespace order by nspname');
  const values = {
    r: "md5(string_agg(t::text, ' ' order by t::text))",
    S: 'max(last_value || is_called::text)',
  };
  const contents = tables
    .filter(({ relkind }) => relkind === 'r' || relkind === 'S')
    .map(
      ({ name, relkind }) =>
        `select '${String(name)}' as name, ${values[relkind as 'r' | 'S']} as value from ${String(name)} t`,
    );
  return { tables, schemas, contents: contents.length > 0 && (await rowsOf(contents.join(' union all '))) };
};

/** The tables in production: which ones they are, and what they are like. */
const shapes = async (): Promise<Map<string, { oid: string; shape: string }>> => {
  const rows = await rowsOf(`select relname as name, c.oid::text, concat_ws(E'\\n',
      (select string_agg(attname || ' ' || format_type(atttypid, atttypmod) || attnotnull || coalesce(pg_get_expr(adbin, adrelid), ''), ', ' order by attnum)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where attrelid = c.oid and attnum > 0 and not attisdropped),
      (select string_agg(pg_get_indexdef(indexrelid), ', ' order by indexrelid::regclass::text) from pg_index where indrelid = c.oid),
      (select string_agg(conname || pg_get_constraintdef(oid), ', ' order by conname) from pg_constraint where conrelid = c.oid)) as shape
    from pg_class c where relnamespace = to_regnamespace('shop') and relkind in ('r', 'p') and not relispartition`);
  return new Map(
    rows.map(({ name, oid, shape }) => [String(name), { oid: String(oid), shape: String(shape) }]),
  );
};

interface Night {
  readonly name: string;
  /** What happens before it. */
  readonly given?: () => unknown;
  readonly pipeline?: () => Pipeline;
  readonly options?: object;
  /** The outcome, or the code of the refusal. */
  readonly says: string;
  /** Of the table of sales. */
  readonly by?: string;
  /** File, line and column in the message of the refusal. */
  readonly at?: string;
  /** A hook may first make what is missing. */
  readonly isHindered?: true;
  /** What only rows show: the plan says how the run begins, and the run ends with this code. */
  readonly rowsRefuse?: string;
  /** A notice of the plan. */
  readonly notice?: string;
  /** Lines that `etl plan` prints, blanks aside; and words that none of them has. */
  readonly shows?: readonly string[];
  readonly shuns?: RegExp;
  readonly url?: () => string;
  readonly server?: Pick<ServerAddress, 'embedded'>;
  readonly after?: () => unknown;
}

const outcomes: Readonly<Record<string, RunResult['outcome']>> = { nothing: 'unchanged' };

/** Compares the plan of a table with what the run did to it. */
const compareTable = (
  planned: RunPlan['tables'][number],
  done: RunResult['tables'][number],
  was: { oid: string; shape: string } | undefined,
  is: { oid: string; shape: string },
  isContinued: boolean,
): void => {
  const { strategy, orElse, ddl, changes, why } = planned.publishing!;
  expect([strategy, orElse]).toContain(done.strategy);
  // The run that goes on has loaded some of its files before.
  expect(isContinued || done.kind === 'derived' || planned.files!.loaded === done.files).toBe(true);
  const isReplaced = was !== undefined && was.oid !== is.oid;
  const comesWhole = done.strategy === 'partitions' && why.endsWith('nothing depends on it');
  expect({ isReplaced }).toEqual({
    isReplaced: was !== undefined && (comesWhole || ['swap', 'rebuild'].includes(done.strategy)),
  });
  const isChanged = was?.shape !== is.shape;
  expect({ isChanged, ddl, changes }).toEqual({
    isChanged: ddl.length + changes.length > 0,
    ddl,
    changes,
  });
};

const planAndRun = async (night: Night): Promise<void> => {
  const { pipeline = shop, options = {}, says, by, at = '', rowsRefuse, notice, shows = [] } = night;
  const { url = () => database.url } = night;
  const address = { ...addressFromUrl(url()), ...night.server };
  const before = await everything();
  const settings = { directory: files.directory, workingDirectory: files.directory, ...options };
  const { plan } = await makePlan(pipeline(), settings, () => Promise.resolve(address));
  expect(await everything(), 'the plan changes nothing').toEqual(before);
  expect(plan.refusal?.code ?? plan.outcome, plan.refusal?.message).toBe(says);
  expect(plan.refusal?.message ?? '').toContain(at);
  expect(plan.prepared).toBe(
    plan.refusal === null && plan.outcome !== 'nothing' && night.isHindered === undefined,
  );
  expect(notice === undefined || plan.notices.includes(notice), plan.notices.join()).toBe(true);
  const lines = planLines(plan, 1_000, (__, text) => text).map((line) => line.replaceAll(/\s+/g, ' ').trim());
  expect(lines).toEqual(expect.arrayContaining([...shows]));
  for (const line of night.shuns ? lines : []) expect(line).not.toMatch(night.shuns!);
  const were = await shapes();
  const chunks = async () => rowsOf(`select count(*) from etl.chunk`).catch(() => []);
  const chunksBefore = await chunks();
  const ended: RunResult | EtlError = await run(pipeline(), { databaseUrl: url(), ...options }).catch(
    (error: unknown) => error as EtlError,
  );
  if (ended instanceof Error) {
    expect(ended.code, ended.message).toBe(rowsRefuse ?? says);
    const isForeseen = rowsRefuse === undefined;
    expect(isForeseen ? ended.message : null).toBe(plan.refusal?.message ?? null);
    expect(isForeseen ? ended.exit : null).toBe(plan.refusal?.exit ?? null);
    // A refusal comes before the first byte.
    expect(isForeseen ? await chunks() : chunksBefore).toEqual(chunksBefore);
  } else {
    expect(ended.outcome).toBe(outcomes[says] ?? 'published');
    if (says === 'nothing')
      expect(plan.tables.reduce((sum, { files: read }) => sum + (read?.loaded ?? 0), 0)).toBe(0);
    const are = await shapes();
    const isContinued = says === 'continue';
    for (const done of plan.prepared ? ended.tables : []) {
      const planned = plan.tables.find(({ table }) => table === done.table)!;
      compareTable(planned, done, were.get(done.table), are.get(done.table)!, isContinued);
    }
    expect(by ?? plan.tables[0]!.publishing?.strategy).toBe(plan.tables[0]!.publishing?.strategy);
  }
};

const live = async (night: Night): Promise<void> => {
  await night.given?.();
  await planAndRun(night).finally(() => night.after?.());
};

const start = (): void => {
  write('01', '1,2024-01-05,5,a', '2,2024-01-06,6,b');
  sql('select sum(pieces)::int as pieces from sale');
};
const append =
  (change: object = {}) =>
  () =>
    shop({ publish: { mode: 'append', changed: 'reload', gone: 'unload' }, ...change });
const kept =
  (change: object = {}) =>
  () =>
    shop({ publish: 'append', ...change });
/** Files that are gone keep their rows. */
const keeping = append({ publish: { mode: 'append', changed: 'reload' } });
const moved =
  'sale: files were moved or renamed since they were loaded, and their rows are kept: 1 file: in/01.csv → in/11.csv';
const others = (mode: string): string => `production has rows of other files, and publish is ${mode}`;
const noted = { ...base, note: column.text('note').nullable() };
const merged =
  (publish: object = {}) =>
  () =>
    shop({ publish: { mode: 'merge', ...publish } });
const divided =
  (change: object = {}) =>
  () =>
    shop({ partitionBy: range('day', 'month'), ...change });
const role = `plan_${randomUUID().slice(0, 8)}`;
const asGuest = (): string => {
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'guest'];
  return url.href;
};
/** The kernel's own file system has no byte free. */
const onFullDisk = {
  embedded: { etlDirectory: '', url: '', directory: '/proc', logFile: '', pid: 0, startedNow: false },
};
const unset = 'NO_SUCH_HOOK is not set: notifications wait for a run or worker that has it';
let locker: Promise<void> | undefined;
let release = (): void => undefined;
const lock = async (): Promise<void> => {
  await new Promise<void>((locked) => {
    locker = withClient(addressFromUrl(database.url), async (client) => {
      await tryLockPipeline(client, 'shop');
      await new Promise<void>((resolve) => {
        release = resolve;
        locked();
      });
    });
  });
};

const stories: Readonly<Record<string, readonly Night[]>> = {
  'what is wrong is found before the first byte': [
    { name: 'the first publication', says: 'load', by: 'swap' },
    { name: 'nothing to do', says: 'nothing' },
    {
      name: 'a wrong column in a SQL file',
      given: () => sql('select sum(piece) from sale'),
      says: 'ETL_TRANSFORM',
      at: 'total.sql:1:12',
    },
    {
      name: 'a table that the role may not read, in SQL',
      given: () => sql('select count(*) as n from sale, pg_authid'),
      url: asGuest,
      says: 'ETL_PERMISSION',
    },
    {
      name: 'a wrong type in the condition of an index',
      given: start,
      pipeline: () => shop({ indexes: [index('pieces', { where: "pieces > interval '1 day'" })] }),
      says: 'ETL_PUBLISH_REFUSED',
    },
    {
      name: 'a foreign key to nowhere',
      pipeline: () => shop({ foreignKeys: [{ columns: 'id', references: 'other.nowhere.id' }] }),
      says: 'ETL_CONSTRAINT_REFUSED',
    },
    {
      name: 'a check of no column',
      pipeline: () => shop({ checks: { few: 'piece < 9' } }),
      says: 'ETL_CONSTRAINT_REFUSED',
    },
    {
      name: 'a generated column of nothing',
      pipeline: () => shop({ columns: { ...base, twice: column.generated('integer', 'piece * 2') } }),
      says: 'ETL_ATTRIBUTE_REFUSED',
    },
    {
      name: 'a data test with a wrong column',
      given: () => files.write('test.sql', 'select *\n  from sale where piece < 0'),
      pipeline: () => shop({ tests: [expected.sql('test.sql')] }),
      says: 'ETL_TEST_REFUSED',
      at: 'test.sql:2:19',
    },
    {
      name: 'a hook with a wrong word',
      given: () => files.write('hook.sql', 'create table if not exists shop.h (); selekt 1'),
      pipeline: () => shop({}, { hooks: { published: sqlFile('hook.sql') } }),
      says: 'ETL_HOOK',
      at: 'hook.sql:1:39',
    },
    {
      name: 'a hook that makes what the SQL reads is no mistake',
      given: () => {
        files.write('hook.sql', 'create table if not exists shop.rate as select 2 as rate');
        sql('select sum(pieces * rate)::int as pieces from sale, rate');
      },
      pipeline: () => shop({}, { hooks: { before: sqlFile('hook.sql') } }),
      options: { fullRefresh: true },
      says: 'load',
      isHindered: true,
    },
    { name: 'no file', given: () => remove('01'), says: 'ETL_SOURCE_NOT_FOUND' },
  ],
  'all rows, every time': [
    { name: 'the first publication', says: 'load', by: 'swap' },
    { name: 'a new file', given: () => write('02', '3,2024-02-01,7,c'), says: 'load', by: 'swap' },
    { name: 'a changed file', given: () => write('02', '3,2024-02-01,8,c'), says: 'load', by: 'swap' },
    {
      name: 'no room on the disk of the server, which is said and does not stop it',
      given: () => write('02', '3,2024-02-01,9,c'),
      server: onFullDisk,
      says: 'load',
      by: 'swap',
      notice: 'the disk of the server may not have enough space',
    },
    {
      name: 'receivers whose variables are not set here',
      pipeline: () => shop({}, { notify: [webhook(env('NO_SUCH_HOOK'), { on: ['late'] })] }),
      says: 'nothing',
      notice: unset,
      after: () => expect(notices).toContain(unset),
    },
    { name: 'a file that is gone', given: () => remove('02'), says: 'load', by: 'swap' },
    {
      name: 'two files that are the same, without a key',
      given: () => {
        write('03', '4,2024-02-01,9,c');
        write('04', '4,2024-02-01,9,c');
      },
      pipeline: () => shop({ primaryKey: [] }),
      says: 'ETL_FILE_COPY',
      at: '1 file: in/04.csv of in/03.csv; nothing was loaded',
      after: () => ['03', '04'].forEach(remove),
    },
    {
      name: 'another definition',
      pipeline: () => shop({ columns: noted, indexes: [index('pieces')] }),
      says: 'load',
      by: 'swap',
    },
    { name: 'the index that goes', pipeline: () => shop({ columns: noted }), says: 'load', by: 'swap' },
    {
      name: 'a view that depends on it',
      given: () => database.query('create view shop.v as select id from shop.sale'),
      pipeline: () => shop({ columns: noted, checks: { some: 'pieces > 0' } }),
      says: 'load',
      by: 'in place',
    },
    { name: 'a view, and a column that goes', says: 'ETL_PUBLISH_SHAPE' },
    {
      name: 'a column that somebody has added',
      given: () => database.query('drop view shop.v; alter table shop.sale add column mine text'),
      pipeline: () => shop({ columns: noted }),
      options: { fullRefresh: true },
      says: 'ETL_PUBLISH_SHAPE',
    },
    {
      name: 'a role that may not',
      given: () => database.query('alter table shop.sale drop column mine'),
      url: asGuest,
      says: 'ETL_PERMISSION',
    },
    {
      name: 'somebody else is running it',
      given: lock,
      says: 'ETL_RUN_LOCKED',
      after: async () => {
        release();
        await locker;
      },
    },
    {
      name: 'fewer rows than the guard lets pass',
      given: () => write('01', '1,2024-01-05,5,a'),
      pipeline: () => shop({ columns: noted, guard: { shrinkMax: '10%' } }),
      says: 'load',
      rowsRefuse: 'ETL_GUARD',
    },
    {
      name: 'the run that the guard has stopped',
      pipeline: () => shop({ columns: noted }),
      says: 'continue',
      by: 'swap',
    },
    {
      name: 'rejects over their limit',
      given: () => write('02', 'x,2024-01-05,5,a'),
      pipeline: () => shop({ columns: noted, rejectLimit: 0 }),
      says: 'load',
      rowsRefuse: 'ETL_REJECT_LIMIT',
    },
    {
      name: 'what a rollback has withdrawn',
      given: async () => {
        remove('02');
        const versioned = shop({ columns: noted, keep: 1 }, {}, { keep: 1 });
        await run(versioned, { fullRefresh: true });
        write('01', '1,2024-01-05,9,a');
        await run(versioned);
        await rollbackPipeline(versioned, { databaseUrl: database.url, directory: files.directory });
      },
      pipeline: () => shop({ columns: noted, keep: 1 }, {}, { keep: 1 }),
      says: 'ETL_ROLLED_BACK',
    },
  ],
  append: [
    { name: 'the first publication', pipeline: append(), says: 'load', by: 'swap' },
    {
      name: 'a new file',
      given: () => write('02', '3,2024-02-01,7,c'),
      pipeline: append(),
      says: 'load new',
      by: 'append',
    },
    {
      name: 'a changed file, loaded again',
      given: () => write('02', '3,2024-02-01,8,c'),
      pipeline: append(),
      says: 'load new',
      by: 'append',
    },
    {
      name: 'a file that is gone, whose rows leave',
      given: () => remove('02'),
      pipeline: append(),
      says: 'load new',
      by: 'append',
      shows: ['gone 1, whose rows are deleted: in/02.csv'],
    },
    {
      name: 'a file that is asked for',
      pipeline: append(),
      options: { reload: ['in/01.csv'] },
      says: 'load new',
      by: 'append',
      shows: ['files all of 1 file to load, 53 B', 'again 1: in/01.csv'],
    },
    {
      name: 'a file that is taken out, beside one that is gone and stays',
      given: async () => {
        write('02', '3,2024-02-01,7,c');
        write('03', '4,2024-02-01,7,c');
        await run(keeping());
        remove('03');
      },
      pipeline: keeping,
      options: { unload: ['in/02.csv'] },
      says: 'load new',
      by: 'append',
      shows: [
        'files none of 2 files to load; 1 as in production',
        'unload 1, whose rows are deleted: in/02.csv',
        'gone 1, whose rows are kept: in/03.csv',
        'No file would be loaded; rows of files would be deleted from production.',
      ],
    },
    {
      name: 'a file that was taken out is neither in production nor gone',
      given: () => remove('02'),
      pipeline: keeping,
      says: 'nothing',
      shows: ['files none of 1 file to load; 1 as in production', 'gone 1, whose rows are kept: in/03.csv'],
    },
    {
      name: 'a file that was moved',
      given: () => renameSync(join(files.directory, 'in/01.csv'), join(files.directory, 'in/11.csv')),
      pipeline: keeping,
      says: 'nothing',
      shows: [moved],
      after: () => {
        expect(notices).toContain(moved);
        renameSync(join(files.directory, 'in/11.csv'), join(files.directory, 'in/01.csv'));
      },
    },
    {
      name: 'a copy of a file that is in production',
      given: () => write('09', '1,2024-01-05,5,a', '2,2024-01-06,6,b'),
      pipeline: keeping,
      says: 'ETL_FILE_COPY',
      at: '1 file: in/09.csv of in/01.csv, which is in production; nothing was loaded',
    },
    {
      name: 'files that have only a header are no copies',
      given: () => {
        remove('09');
        write('07');
        write('08');
      },
      pipeline: keeping,
      says: 'load new',
      shuns: /cop/,
    },
    {
      name: 'a column that is added',
      pipeline: append({ columns: noted, evolve: 'add' }),
      says: 'load new',
      by: 'append',
    },
    {
      name: 'a wider type',
      pipeline: append({ columns: { ...noted, pieces: column.bigint('pieces') }, evolve: 'retype' }),
      says: 'load new',
      by: 'append',
      shows: ['No file would be loaded; the definition has changed since the last published run.'],
    },
    {
      name: 'a column that may not be added',
      given: () => database.query('alter table shop.sale drop column note'),
      pipeline: append({ columns: { ...noted, pieces: column.bigint('pieces') } }),
      says: 'ETL_PUBLISH_SHAPE',
    },
    {
      name: 'keys, checks and columns that the server fills',
      given: () =>
        database.query(
          "create table shop.day (day date primary key); insert into shop.day values ('2024-01-05'), ('2024-01-06')",
        ),
      pipeline: append({
        columns: {
          ...base,
          pieces: column.bigint('pieces'),
          twice: column.generated('bigint', 'pieces * 2'),
        },
        evolve: 'add',
        checks: { some: 'pieces > 0' },
        unique: ['id'],
        indexes: [index('twice')],
        foreignKeys: [{ columns: 'day', references: 'shop.day.day' }],
      }),
      says: 'load new',
      by: 'append',
    },
    {
      name: 'another generated column',
      pipeline: append({
        columns: {
          ...base,
          pieces: column.bigint('pieces'),
          twice: column.generated('bigint', 'pieces * 3'),
        },
        evolve: 'retype',
      }),
      says: serverMajor < 17 ? 'ETL_PUBLISH_SHAPE' : 'load new',
      by: 'append',
    },
    {
      name: 'everything again',
      pipeline: append(),
      options: { fullRefresh: true },
      says: 'load',
      by: 'swap',
    },
    {
      name: 'a changed file that is refused',
      given: () => write('01', '1,2024-01-05,7,a'),
      pipeline: kept({ source: csv('in/*.csv', { onBadFile: 'stop' }) }),
      says: 'ETL_FILE_CHANGED',
    },
    {
      name: 'a changed file that is ignored',
      pipeline: append({ publish: { mode: 'append', changed: 'ignore', gone: 'unload' } }),
      says: 'load new',
      by: 'append',
    },
  ],
  'merge, and versions': [
    { name: 'the first publication', pipeline: merged(), says: 'load', by: 'swap' },
    {
      name: 'a new file',
      given: () => write('02', '1,2024-01-05,7,c', '3,2024-02-01,7,c'),
      pipeline: merged(),
      says: 'load new',
      by: 'merge',
      shows: [
        `publish merge, because ${others('merge')}, or rebuild if that is cheaper for the rows that change`,
      ],
    },
    {
      name: 'a file that is gone, whose rows stay',
      given: () => remove('02'),
      pipeline: merged(),
      says: 'nothing',
    },
    {
      name: 'a table that is never built again, because a view depends on it',
      given: () => {
        write('05', '4,2024-02-01,7,c');
        return database.query('create view shop.v as select id from shop.sale');
      },
      pipeline: merged(),
      says: 'load new',
      by: 'merge',
      shows: [`publish merge, because ${others('merge')}`],
      after: () => database.query('drop view shop.v'),
    },
    {
      name: 'one that nobody wants to be built again',
      given: () => write('06', '5,2024-02-01,7,c'),
      pipeline: merged({ by: 'upsert' }),
      says: 'load new',
      by: 'merge',
      shows: [`publish merge, because ${others('merge')}`],
    },
    {
      name: 'versions',
      given: () => database.query('drop table shop.sale'),
      pipeline: () => shop({ publish: { mode: 'history', from: 'since', to: 'until' }, primaryKey: ['id'] }),
      says: 'load',
      by: 'swap',
    },
    {
      name: 'new versions',
      given: () => write('03', '1,2024-01-05,9,c'),
      pipeline: () => shop({ publish: { mode: 'history', from: 'since', to: 'until' }, primaryKey: ['id'] }),
      says: 'load new',
      by: 'history',
    },
  ],
  partitions: [
    { name: 'the first publication', pipeline: divided(), says: 'load', by: 'partitions' },
    {
      name: 'a new partition',
      given: () => write('02', '3,2024-02-01,7,c'),
      pipeline: divided(),
      says: 'load',
      by: 'partitions',
    },
    {
      name: 'a trigger that sees rows',
      given: () =>
        database.query(`create function shop.f() returns trigger language plpgsql as 'begin return new; end';
        create trigger t after insert on shop.sale for each row execute function shop.f()`),
      pipeline: divided({ indexes: [index('pieces')] }),
      says: 'load',
      by: 'in place',
      shows: ['publish in place, because the table has to be kept because of trigger t'],
      shuns: /inheritance|partitioning/,
    },
    {
      name: 'another division',
      given: () => database.query('drop trigger t on shop.sale'),
      pipeline: divided({ partitionBy: range('day', 'year') }),
      says: 'ETL_PUBLISH_SHAPE',
    },
    {
      name: 'those that files touch',
      given: () => database.query('drop table shop.sale'),
      pipeline: divided({ publish: { mode: 'replace', only: 'touched' } }),
      says: 'load',
      by: 'partitions',
    },
    {
      name: 'a file of one month',
      given: () => write('02', '3,2024-02-01,8,c'),
      pipeline: divided({ publish: { mode: 'replace', only: 'touched' } }),
      says: 'load new',
      by: 'partitions',
    },
    {
      name: 'a file that is taken out, of a table with a view and a trigger that sees rows',
      given: () =>
        database.query(`create view shop.v as select id from shop.sale;
        create trigger t after insert on shop.sale for each row execute function shop.f()`),
      pipeline: divided({ publish: { mode: 'replace', only: 'touched' } }),
      options: { unload: ['in/02.csv'] },
      says: 'load new',
      by: 'in place',
      shows: [
        'unload 1, whose rows are deleted: in/02.csv',
        'publish in place, because partitions cannot be exchanged because of trigger t',
      ],
    },
  ],
};

beforeAll(async () => {
  await database.query(`create role ${role} login password 'guest'`);
});
afterAll(() => database.query(`drop role ${role}`));

describe.each(Object.entries(stories))('%s', (_, nights) => {
  beforeAll(async () => {
    await startOver('shop');
    start();
  });

  it.each(nights)('$name', async (night) => {
    await live(night);
    expect(await rowsOf(`select nspname from pg_namespace where starts_with(nspname, 'etl_build')`)).toEqual(
      [],
    );
  });
});

it('a run keeps its plan, also if it was not rehearsed because its definition is published already', async () => {
  await startOver('shop');
  start();
  write('01', '1,2024-01-01,5,a');
  sql('select day, sum(pieces)::int as pieces from sale group by day');
  for (const chunkBytes of [undefined, undefined, 1]) await run(shop(), { fullRefresh: true, chunkBytes });
  const plans = await rowsOf('select tables from etl.run_plan order by run_id');
  const [first, again, rehearsed] = plans.map(({ tables }) => JSON.stringify(tables));
  expect(first).toContain('swap, because there is no table yet');
  expect(again).toContain('swap, because nothing depends on the table');
  expect(again).toBe(rehearsed);
});
