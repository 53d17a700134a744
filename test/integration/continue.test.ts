// A run that failed is continued after its definition was fixed: what is loaded is not loaded again, and nothing is left over.

import { beforeEach, describe, expect, it } from 'vitest';
import { claimChunk, completeChunk } from '../../src/ledger/run/ledger.ts';
import { runQuery, withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import {
  cancel,
  column,
  csv,
  definePipeline,
  index,
  sqlFile,
  type HookContext,
  type Pipeline,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { until } from '../helpers/workers.ts';

const { files, database, notices, rowsOf, etl: command, run: runIt, startOver } = usePipelineRuns();
const chunks = () => rowsOf('select file_id, byte_start, committed_at from etl.chunk order by 1, 2');
const staging = async () =>
  (
    await rowsOf(`select relname from pg_class where relnamespace = 'etl_staging'::regnamespace order by 1`)
  ).map(({ relname }) => relname);

const columns = { id: column.integer('id'), word: column.text('word').nullable() };
const source = (name: string) => csv(`${files.directory}/${name}.csv`);
const t = { source: source('t'), columns };
const u = { source: source('u'), columns };
const sums = { from: ['t'], transform: sqlFile('sums.sql') };
const pipeline = (tables: object = { t, u, sums }, name = 'goes_on', more: object = {}): Pipeline =>
  definePipeline({ name, schema: 'goes_on', tables, ...more } as never);

const run = (given: Pipeline = pipeline(), options: object = {}) => runIt(given, options);

const count = 'select count(*) as n from t';
const divideByZero = 'select 1 / (count(*) - count(*)) as n from t';

beforeEach(async () => {
  await startOver('goes_on');
  await database.query(`do $$ declare t regclass; begin
    for t in select oid from pg_class where relnamespace = to_regnamespace('etl_staging') and relkind = 'r'
      loop execute 'drop table ' || t; end loop; end $$`);
  files.write('t.csv', 'id,word\n1,a\n2,b\n2,c\n');
  files.write('u.csv', 'id,word\n1,a\n');
  files.write('sums.sql', count);
});

interface Mistake {
  readonly name: string;
  readonly code: string;
  readonly wrong: () => Pipeline;
  readonly fixed: () => Pipeline;
}
const direct = (primaryKey: readonly string[]) =>
  pipeline({ t: { ...t, staging: 'none', primaryKey }, u, sums });
const mistakes: readonly Mistake[] = [
  {
    name: 'a division by zero in the SQL of a derived table',
    code: 'ETL_TRANSFORM',
    wrong: () => (files.write('sums.sql', divideByZero), pipeline()),
    fixed: () => (files.write('sums.sql', count), pipeline()),
  },
  {
    name: 'a primary key that is none',
    code: 'ETL_DUPLICATE_KEY',
    wrong: () => pipeline({ t: { ...t, primaryKey: ['id'] }, u, sums }),
    fixed: () => pipeline({ t: { ...t, indexes: [index('id')], comment: 'fixed' }, u, sums }),
  },
  {
    name: 'the same of rows that are loaded straight into the new table',
    code: 'ETL_DUPLICATE_KEY',
    wrong: () => direct(['id']),
    fixed: () => direct([]),
  },
  {
    name: 'a limit that is too low',
    code: 'ETL_REJECT_LIMIT',
    wrong: () => (files.write('u.csv', 'id,word\n1,a\nx,b\n'), pipeline()),
    fixed: () => pipeline({ t, u: { ...u, rejectLimit: 1 }, sums }),
  },
  {
    name: 'a guard that asks for too much',
    code: 'ETL_GUARD',
    wrong: () => pipeline({ t: { ...t, guard: { rowsMin: 10 } }, u, sums }),
    fixed: () => pipeline({ t: { ...t, guard: { rowsMin: 3 } }, u, sums }),
  },
  {
    name: 'a derived table that goes',
    code: 'ETL_TRANSFORM',
    wrong: () => (files.write('sums.sql', divideByZero), pipeline()),
    fixed: () => pipeline({ t, u }),
  },
];

describe('after', () => {
  it.each(mistakes)('$name, the fixed run loads nothing again', async ({ code, wrong, fixed }) => {
    expect(await failureOf(run(wrong()))).toMatchObject({ code });
    const loaded = await chunks();
    expect(loaded.length).toBe(2);
    const { runId, tables } = await run(fixed());
    expect(runId).toBe(1);
    expect(tables.find(({ table }) => table === 't')).toMatchObject({ rows: 3 });
    expect(await chunks()).toEqual(loaded);
    // Why it stopped stays in the history of the run.
    const stops =
      "select jsonb_array_length(earlier) as stops, earlier #>> '{0,errorCode}' as code from etl.run";
    expect(await rowsOf(stops)).toEqual([{ stops: 1, code }]);
    expect((await run(fixed())).outcome).toBe('unchanged');
    expect(await staging()).toEqual([]);
  });

  it('a mistake in the columns of one table, the others are not loaded again', async () => {
    files.write('sums.sql', divideByZero);
    await failureOf(run());
    const loaded = await chunks();
    files.write('sums.sql', count);
    const { tables } = await run(pipeline({ t, u: { ...u, columns: { id: columns.id } }, sums }));
    expect(tables.map(({ rows }) => rows)).toEqual([3, 1, 1]);
    expect(await chunks()).toEqual([
      loaded[0],
      expect.not.objectContaining({ file_id: loaded[1]!['file_id'] }),
    ]);
  });
});

it('a run of which something is lost after it was loaded publishes nothing, and the next one loads all of it again', async () => {
  const ids = Array.from({ length: 600 }, (_, place) => place + 1);
  files.write('t.csv', `id,word\n${ids.map((id) => `${id},w`).join('\n')}\n`);
  /** Takes chunks out of the ledger, and their rows out of staging: both agree that there was nothing. */
  const loseChunks = (which: string): string => `with lost as (
      delete from etl.chunk where byte_start in (${which}) returning first_record, records
    )
    delete from etl_staging.goes_on__t using lost where id >= first_record and id < first_record + records`;
  const losses = [
    { sql: loseChunks('select min(byte_start) from etl.chunk') },
    { sql: loseChunks('select byte_start from etl.chunk order by 1 offset 1 limit 1') },
    { sql: loseChunks('select max(byte_start) from etl.chunk') },
    { sql: loseChunks('select byte_start from etl.chunk') },
    {
      sql: 'update etl.chunk set records = records + 1 where byte_start = (select max(byte_start) from etl.chunk)',
      says: /: 601 records read, but 600 copied \+ 0 rejected \+ 0 filtered$/,
    },
    {
      sql: 'delete from etl_staging.goes_on__t where id = 300',
      says: /^600 rows copied, but 599 found in staging$/,
    },
  ];
  for (const { sql, says = /t\.csv is not loaded to its end$/ } of losses) {
    const after = async ({ query }: HookContext) => {
      const loaded = 'select count(*)::int as n from etl_staging.goes_on__t';
      expect(await query(loaded)).toEqual([{ n: 600 }]);
      await query(sql);
    };
    const error = await failureOf(
      run(pipeline({ t }, undefined, { hooks: { after } }), { chunkBytes: 1_000 }),
    );
    expect(error).toMatchObject({ code: 'ETL_INCOMPLETE', details: { table: 't' } });
    expect(error.details['problem'], sql).toMatch(says);
    expect(await rowsOf(`select to_regclass('goes_on.t') as table`)).toEqual([{ table: null }]);
  }
  expect((await run(pipeline({ t }))).tables[0]).toMatchObject({ records: 600, rows: 600 });
});

describe('rows vanish from staging while the server stays up', () => {
  const staged = `select f.table_name as "table", c.byte_start, c.committed_at from etl.chunk c
    join etl.source_file f on f.id = c.file_id where f.run_id = (select max(id) from etl.run) order by 1, 2`;
  const limited = { ...t, rejectLimit: 1 };
  const tables = { t: limited, u, d: { ...limited, staging: 'none' }, sums };

  it.each([
    ['one table is emptied', 'truncate etl_staging.goes_on__t', ['t']],
    ['one table becomes a logged one', 'alter table etl_staging.goes_on__t set logged', []],
    [
      'all are emptied, and the canary',
      'truncate etl.canary, etl_staging.goes_on__t, etl_staging.goes_on__u',
      ['t', 'u'],
    ],
    ['the canary alone is emptied', 'truncate etl.canary', ['t', 'u']],
    ['rows of a table without staging are deleted', 'delete from etl_build_goes_on.d', ['d']],
  ])('%s: the run loads again what is missing, and nothing else', async (_, sql, again) => {
    files.write('t.csv', 'id,word\n1,a\n2,b\nx,c\n');
    let before: readonly Record<string, unknown>[] | undefined;
    const after = async ({ query }: HookContext) => {
      if (before !== undefined) return;
      before = await query(staged);
      await query(sql);
    };
    const hooked = pipeline(tables, undefined, { hooks: { after } });
    expect(await run(hooked)).toMatchObject({ outcome: 'published' });
    const now = await rowsOf(staged);
    const chunksOf = (rows: typeof before, name: unknown) =>
      JSON.stringify(rows?.filter(({ table }) => table === name));
    const others = now.filter(({ table }) => chunksOf(now, table) !== chunksOf(before, table));
    expect(new Set(others.map(({ table }) => table))).toEqual(new Set(again));
    expect(
      await rowsOf(`select (select count(*)::int from goes_on.t) as t, (select count(*)::int from goes_on.u) as u,
        (select count(*)::int from goes_on.d) as d, (select count(*)::int from etl.reject) as rejects`),
    ).toEqual([{ t: 2, u: 1, d: 2, rejects: 2 }]);
  });
});

it('a run that is cancelled between two steps publishes nothing', async () => {
  const after = ({ runId }: { readonly runId: number }) => cancel(runId, { databaseUrl: database.url });
  expect(await failureOf(run(pipeline({ t }, undefined, { hooks: { after } })))).toMatchObject({
    code: 'ETL_RUN_CANCELLED',
  });
  expect(await rowsOf(`select state, to_regclass('goes_on.t') as table from etl.run`)).toEqual([
    { state: 'cancelled', table: null },
  ]);
});

it('a chunk that is in flight when the run is taken over counts, if its file has changed since', async () => {
  const both = pipeline({ t: { ...t, source: csv(`${files.directory}/[tu].csv`) }, sums });
  files.write('sums.sql', divideByZero);
  files.write('u.csv', 'id,word\n8,old\n');
  await failureOf(run(both));
  // As its process would have left it, killed before it had loaded anything of the second file.
  const [lost] = await rowsOf(`delete from etl.chunk c using etl.source_file f
    where f.id = c.file_id and f.name like '%u.csv'
    returning f.id::int, f.data_byte::int as byte, f.data_line::int as line, byte_end::int as end, c.epoch`);
  const {
    id,
    byte,
    line,
    end: byteEnd,
    epoch,
  } = lost as Record<'id' | 'byte' | 'line' | 'end', number> & { epoch: string };
  await database.query(`delete from etl_staging.goes_on__t where id = 8;
    update etl.run set state = 'loading', finished_at = null, error_code = null, error = null`);
  files.write('sums.sql', count);
  await withClient(addressFromUrl(database.url), async (loader) => {
    const start = { byte, line, record: 1 };
    const end = { byte: byteEnd, line: line + 1, record: 2 };
    await loader.query('begin; select from etl.run for share');
    await runQuery(loader, claimChunk(id, start, epoch));
    await loader.query(`insert into etl_staging.goes_on__t values (8, 'old')`);
    await runQuery(
      loader,
      completeChunk(id, start, end, { records: 1, copied: 1, rejected: 0, filtered: 0 }),
    );
    files.write('u.csv', 'id,word\n9,newer\n');
    const running = run(both);
    await until(async () => (await rowsOf('select from pg_locks where not granted')).length > 0);
    await loader.query('commit');
    await running;
  });
  expect(await rowsOf(`select string_agg(id::text, ' ' order by id) as ids from goes_on.t`)).toEqual([
    { ids: '1 2 2 9' },
  ]);
});

it('a pipeline of the same name in another folder, which replaces its tables, is announced', async () => {
  const announced = () => notices.filter((text) => text.includes('that ran last'));
  await run(pipeline({ t, sums }));
  await run(pipeline({ t }));
  expect(announced()).toEqual([]);
  await run(pipeline({ t: { ...t, guard: false } }), { directory: '/' });
  expect(announced()).toEqual([
    `pipeline goes_on in / is another than the one in ${files.directory} that ran last; if both are in use, each replaces what the other published: rename one`,
  ]);
});

describe('staging of tables that the pipeline no longer has', () => {
  it('is dropped by its next run; that of other pipelines is kept, also under similar names', async () => {
    files.write('sums.sql', divideByZero);
    const other = pipeline({ t, u, sums }, 'goes_on_too');
    for (const one of [pipeline(), other]) await failureOf(run(one));
    await database.query('create table etl_staging.goes_on__mine (id integer)');
    const all = ['goes_on__mine', 'goes_on__t', 'goes_on__u', 'goes_on_too__t', 'goes_on_too__u'];
    expect(await staging()).toEqual(all);
    await failureOf(run(pipeline({ renamed: t, u, sums: { ...sums, from: ['u'] } })));
    expect(await staging()).toEqual([
      'goes_on__mine',
      'goes_on__renamed',
      'goes_on__u',
      'goes_on_too__t',
      'goes_on_too__u',
    ]);
    // Tables of the user and tables that an unfinished run needs are distinguished.
    const { out } = await command('doctor', '--json');
    expect(out).toContain('"name":"stale staging","value":"1 table"');
    expect(out).toContain('drop table etl_staging.goes_on__mine;');
    await run(pipeline({ u }));
    expect(await staging()).toEqual(['goes_on__mine', 'goes_on_too__t', 'goes_on_too__u']);
  });
});

describe('etl plan', () => {
  const file = files.write(
    'planned.ts',
    `import { column, csv, definePipeline, sqlFile } from 'sluice';
    export default definePipeline({ name: 'planned', schema: 'goes_on', tables: {
      t: { source: csv('${files.directory}/t.csv'), columns: { id: column.integer('id') } },
      sums: { from: ['t'], transform: sqlFile('sums.sql') } } });`,
  );
  const etl = async (...args: string[]) => {
    const { out } = await command(args.includes('--quiet') ? 'run' : 'plan', file, ...args);
    const lines = out.trimEnd().split('\n');
    return lines.slice(lines.indexOf('') + 1);
  };

  it('says what the run would say: that it goes on, loads, or has nothing to do', async () => {
    // What only rows show stops the run when they are loaded.
    files.write('sums.sql', divideByZero);
    await etl('--quiet');
    expect(await etl()).toEqual([
      'Run 1 is unfinished: its missing data would be loaded.',
      expect.stringMatching(/^ {2}\d+ records? of it are in staging$/),
      expect.stringContaining('prepared on the server'),
      expect.any(String),
      expect.any(String),
    ]);
    const [{ epoch } = {}] = await rowsOf('select epoch from etl.canary');
    await database.query('update etl.canary set epoch = gen_random_uuid()');
    expect((await etl())[1]).toMatch(/^ {2}\d+ records? of it were in staging until the server crashed$/);
    await database.query('update etl.canary set epoch = $1', [epoch]);
    files.write('t.csv', 'id,word\n1,a\n');
    expect((await etl()).slice(0, 2)).toEqual([
      'Everything would be loaded.',
      expect.stringMatching(/everything is loaded again, because .*t\.csv has changed/),
    ]);
    files.write('sums.sql', count);
    await etl('--quiet');
    expect(await etl()).toEqual([
      expect.stringContaining('Nothing to do: files and definition are the same as in run 2'),
    ]);
    expect((await etl('--full-refresh'))[0]).toBe('Everything would be loaded.');
    expect(await rowsOf('select count(*)::int as runs from etl.run')).toEqual([{ runs: 2 }]);
  });
});

it.each(['failed', 'was killed'])('the pause after an attempt that %s is no time of the run', async (how) => {
  await failureOf(run(pipeline({ t: { ...t, primaryKey: ['id'] } })));
  await database.query(`
    update etl.run set started_at = started_at - interval '1 hour', finished_at = finished_at - interval '1 hour';
    update etl.chunk set committed_at = committed_at - interval '1 hour'`);
  if (how === 'was killed')
    await database.query(
      `update etl.run set state = 'loading', finished_at = null, error_code = null, pid = 1`,
    );
  expect((await run(pipeline({ t }))).runId).toBe(1);
  const listed = JSON.parse((await command('status', '--json')).out);
  expect(listed).toEqual([expect.objectContaining({ id: 1, state: 'published' })]);
  expect(listed[0].seconds).toBeGreaterThan(0);
  expect(listed[0].seconds).toBeLessThan(1_800);
});
