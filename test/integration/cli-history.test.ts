// `etl status`, `etl runs`, `etl show` and `etl rejects list` over bookkeeping rows written by hand, on a real server.

import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { keepNotices, keepPlan, type PlannedRows } from '../../src/ledger/run/run-story.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const empty = useDatabase();
const database = useDatabase();

const etl = async (url: string, ...args: string[]): Promise<{ exit: number; out: string; err: string }> => {
  const io = fakeIo({ env: { DATABASE_URL: url } });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};

// No process has this number: Linux and macOS count to 4,194,304 at most.
const deadPid = 2_000_000_000;

const epoch = '00000000-0000-4000-8000-000000000001';

const history = `
  insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers, started_at, finished_at, error_code, error)
  values
    ('${epoch}', '{}', 'noaa', 'published', 'h', '${hostname()}', 1, 2, '2026-03-01 09:05:00Z', '2026-03-01 09:05:04.5Z', null, null),
    ('${epoch}', '{}', 'noaa', 'failed', 'h', '${hostname()}', 1, 2, '2026-03-02 09:05:00Z', '2026-03-05 12:00:00Z',
      'ETL_REJECT_LIMIT', 'table observation: 2 of 10 records rejected'),
    ('${epoch}', '{}', 'noaa', 'loading', 'h', '${hostname()}', ${deadPid}, 2, '2026-03-03 09:05:00Z', null, null, null),
    ('${epoch}', '{}', 'other', 'loading', 'h', 'elsewhere', ${deadPid}, 1, '2026-03-04 09:05:00Z', null, null, null),
    ('${epoch}', '{}', 'shop', 'cancelled', 'h', 'elsewhere', 1, 1, '2026-03-05 09:05:00Z', '2026-03-05 09:05:02.4610004Z',
      'ETL_INTERRUPTED', 'stopped by SIGINT'),
    ('${epoch}', '{}', 'shop', 'cancelled', 'h', 'elsewhere', 1, 1, '2026-03-06 09:05:00Z', '2026-03-06 09:05:01Z',
      'ETL_RUN_CANCELLED', 'run 6 was cancelled');
  insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line)
  values
    (1, 'station', 0, '/data/station.txt', 'data/station.txt', 1000, 'f', '{a}', 2, 2),
    (1, 'observation', 0, '/data/1.txt', 'data/1.txt', 3000000, 'f', '{a}', 2, 2),
    (2, 'observation', 0, '/data/2.txt', 'data/2.txt', 5000, 'f', '{a}', 2, 2);
  insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line)
    select 6, format('branch_%s', to_char(n, 'FM00')), 0, '/data/branch.txt', 'data/branch.txt', 10, 'f', '{a}', 2, 2
      from generate_series(1, 12) as n;
  insert into etl.chunk (file_id, byte_start, byte_end, first_line, first_record, lines, records, copied, rejected, filtered, epoch)
  values
    (1, 2, 1000, 2, 1, 20, 20, 20, 0, 0, '${epoch}'),
    (2, 2, 1500000, 2, 1, 10000, 10000, 9990, 0, 10, '${epoch}'),
    (2, 1500000, 3000000, 10002, 10001, 9000, 9000, 9000, 0, 0, '${epoch}'),
    (3, 2, 5000, 2, 1, 10, 10, 8, 2, 0, '${epoch}'),
    -- Lost in a crash: counts for nothing.
    (3, 5000, 9000, 12, 11, 10, 10, 10, 0, 0, '00000000-0000-4000-8000-000000000000');
  insert into etl.published_table (run_id, schema_name, table_name, table_oid, strategy, rows_before, rows, seconds, indexes)
  values
    (1, 'noaa', 'station', 1, 'swap', 19, 20, 0.1, '{}'),
    (1, 'noaa', 'observation', 2, 'swap', null, 18990, 2, '{}'),
    (1, 'noaa', 'daily', 3, 'in place', null, 365, 0.5, '{}');
  insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw)
  values
    (2, 'observation', 3, 400, 7, 6, 'temperature', 'type', '''warm'' is not a number', E'1|warm\\x1b[2J'),
    (2, 'observation', 3, 40, 3, 2, null, 'field_count', '1 field, the header has 2', '1');`;

beforeAll(async () => {
  await withClient(addressFromUrl(database.url), async (client) => {
    await migrate(client);
    await client.query(history);
  });
});

/** Lines with their runs of blanks made one. */
const squeezed = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replace(/ +/g, ' '));

describe('a database that sluice has never seen', () => {
  it.each([
    { args: ['status'], out: 'no runs yet\n', exit: 0 },
    { args: ['status', '--json'], out: '[]\n', exit: 0 },
    { args: ['runs', '--pipeline', 'noaa'], out: 'no such runs\n', exit: 0 },
    { args: ['show', '1'], out: '', exit: 2 },
    { args: ['rejects', 'list'], out: 'no rejects\n', exit: 0 },
    { args: ['status', '1'], out: '', exit: 2 },
    { args: ['rejects', 'list', '1'], out: '', exit: 2 },
  ])('$args', async ({ args, out, exit }) => {
    expect(await etl(empty.url, ...args)).toMatchObject({ exit, out });
    const { rows } = await empty.query(`select to_regnamespace('etl') as schema`);
    expect(rows).toEqual([{ schema: null }]);
  });
});

describe('etl status', () => {
  it('lists runs under way first, then by their end, and knows whose process is gone', async () => {
    const { exit, out } = await etl(database.url, 'status');
    expect(exit).toBe(0);
    const lines = squeezed(out).map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'WHEN'));
    expect(lines).toEqual([
      '1 pipeline failed at the newest attempt: noaa (ETL_REJECT_LIMIT)',
      '',
      'run pipeline state started seconds records rejected error',
      '4 other loading WHEN – 0 0',
      '3 noaa loading (process gone) WHEN – 0 0',
      '6 shop cancelled WHEN 1.0 0 0 ETL_RUN_CANCELLED',
      // Continued after days: it is what failed last.
      '2 noaa failed WHEN 269700.0 10 2 ETL_REJECT_LIMIT',
      '5 shop stopped WHEN 2.5 0 0 ETL_INTERRUPTED',
      '1 noaa published WHEN 4.5 19,020 0',
    ]);
  });

  it('shows one run with tables in the order of loading, derived ones last, and files', async () => {
    const lines = squeezed((await etl(database.url, 'status', '1')).out);
    expect(lines[0]).toBe('run 1 of noaa: published');
    expect(lines.slice(4)).toEqual([
      'table files bytes records copied rejected filtered rows before rows published by',
      'noaa.station 1 1.0 kB 20 20 0 0 19 20 swap',
      'noaa.observation 1 3.0 MB 19,000 18,990 0 10 – 18,990 swap',
      'noaa.daily – – – – – – – 365 in place',
      '',
      'file table bytes records copied rejected filtered',
      'data/1.txt observation 3.0 MB 19,000 18,990 0 10',
      'data/station.txt station 1.0 kB 20 20 0 0',
    ]);
  });

  it('shows why a run failed and where its rejects are', async () => {
    const { out } = await etl(database.url, 'status', '2');
    expect(out).toContain('error ETL_REJECT_LIMIT: table observation: 2 of 10 records rejected\n');
    expect(out).toContain(
      'observation      1  5.0 kB       10       8         2         0            –  not published',
    );
    expect(out).toContain('See npx etl rejects list 2 for the rejected records.');
  });

  it('--json gives numbers as numbers', async () => {
    const runs = JSON.parse((await etl(database.url, 'status', '--json')).out);
    expect(runs[4]).toMatchObject({ state: 'cancelled', seconds: 2.461 });
    expect(runs[5]).toMatchObject({
      id: 1,
      pipeline: 'noaa',
      seconds: 4.5,
      records: 19_020,
      processGone: false,
    });
    const one = JSON.parse((await etl(database.url, 'status', '1', '--json')).out);
    expect(one.tables[1]).toMatchObject({ table: 'observation', bytesRead: 2_999_998, rows: 18_990 });
  });

  it('an unknown run is a usage error', async () => {
    const { exit, err } = await etl(database.url, 'status', '99');
    expect(exit).toBe(2);
    expect(err).toContain('error ETL_RUN_UNKNOWN: there is no run 99');
  });
});

describe('etl runs', () => {
  // A failure of ten days before the runs, without one of its own.
  beforeAll(() =>
    database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error, failed_at)
      values ('shop', 'default', 'elsewhere', 1, 'ETL_SOURCE_NOT_FOUND', 'no file', '2026-02-20 00:00:00Z')`),
  );
  afterAll(() => database.query('delete from etl.failure'));

  it.each([
    { args: [], runs: [4, 3, 6, 2, 5, 1, null] },
    { args: ['--pipeline', 'shop'], runs: [6, 5, null] },
    { args: ['--state', 'running'], runs: [4, 3] },
    { args: ['--state', 'stopped'], runs: [5] },
    { args: ['--state', 'cancelled'], runs: [6] },
    { args: ['--state', 'failed'], runs: [2, null] },
    { args: ['--since', '2026-03-05T00:00:00Z'], runs: [6, 5] },
    { args: ['--limit', '2'], runs: [4, 3, null] },
    { args: ['--pipeline', 'noaa', '--state', 'published', '--since', '5000w'], runs: [1] },
    { args: ['--pipeline', 'other', '--state', 'failed'], runs: [] },
  ])('$args', async ({ args, runs }) => {
    const { exit, out } = await etl(database.url, 'runs', '--json', ...args);
    expect(exit).toBe(0);
    expect(JSON.parse(out).map(({ id }: { id: number | null }) => id)).toEqual(runs);
  });

  it('says in words what there is not, and which pipeline was meant', async () => {
    expect(await etl(database.url, 'runs', '--pipeline', 'other', '--state', 'failed')).toMatchObject({
      out: 'no such runs\n',
    });
    expect(await etl(database.url, 'runs', '--pipeline', 'nooa')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('there is no run of a pipeline nooa\n  Did you mean noaa?'),
    });
    expect(await etl(database.url, 'runs', '--since', 'lately')).toMatchObject({
      exit: 2,
      err: expect.stringContaining("'lately' is neither an age such as 12h, 7d or 8w"),
    });
  });

  it('etl show prints the page of a run', async () => {
    const page = await etl(database.url, 'show', '1');
    expect(page).toEqual(await etl(database.url, 'status', '1'));
    expect(page.out).toContain('run 1 of noaa: published');
    expect(await etl(database.url, 'show')).toMatchObject({ exit: 2 });
  });

  it('etl show says what was planned, the newest of what was said, and where the trace is', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const plan: PlannedRows = { table: 'shop.item', isDerived: true, rows: [['publish', 'swap, because']] };
    const notices = Array.from({ length: 150 }, (_, n) => ({
      at: '2026-03-05T09:05:01.000Z',
      text: `notice ${n}\u001b[2J`,
    }));
    await withClient(addressFromUrl(database.url), async (client) => {
      await keepNotices(client, 5, { notices: notices.slice(0, 1), said: 1 });
      for (const trace of [traceId, null]) await keepPlan(client, 5, [plan], trace);
      await keepNotices(client, 5, { notices, said: 160 });
      await keepNotices(client, 5, { notices, said: 150 });
    });
    const shown = squeezed((await etl(database.url, 'show', '5')).out);
    expect(shown).toEqual(
      expect.arrayContaining([
        `trace ${traceId}`,
        'shop.item (derived)',
        'publish swap, because',
        'the newest 200 of 311 notices:',
        '2026-03-05 09:05:01 notice 149\\u001b[2J',
      ]),
    );
    const { out } = await etl(database.url, 'show', '5', '--json');
    const json = JSON.parse(out);
    expect(json).toMatchObject({ traceId, said: 311, plan: { tables: [plan], rowsCut: 0 } });
    expect(json.notices.map(({ text }: { text: string }) => Number.parseInt(text.slice(7), 10))).toEqual([
      ...Array.from({ length: 50 }, (_, n) => n + 100),
      ...Array.from({ length: 150 }, (_, n) => n),
    ]);
  });
});

describe('etl rejects list', () => {
  const head = /^run 2 of noaa \(failed, started 2026-03-02 [:0-9]+\): 2 rejects$/;
  const wanted = [
    expect.stringMatching(head),
    'data/2.txt:3: field_count: 1 field, the header has 2 (1 record)',
    '    1',
    "data/2.txt:7: column temperature: type: 'warm' is not a number (1 record)",
    '    1|warm\\u001b[2J',
    '--all lists every record, --limit <n> the first of them',
    '',
  ];

  it.each([
    { name: 'the newest run with rejects', args: [] },
    { name: 'a given run', args: ['2'] },
    { name: 'one table', args: ['--table', 'observation'] },
    { name: 'one pipeline', args: ['--pipeline', 'noaa'] },
  ])('$name, in the order of the file', async ({ args }) => {
    const { exit, out } = await etl(database.url, 'rejects', 'list', ...args);
    expect(exit).toBe(0);
    expect(out.split('\n')).toEqual(wanted);
  });

  it.each([
    {
      name: 'the first records themselves',
      args: ['--limit', '1'],
      says: '): 2 rejects\ndata/2.txt:3: field_count: 1 field, the header has 2\n    1\n',
    },
    { name: 'a run without rejects', args: ['1'], says: '): 0 rejects\n' },
    { name: 'a pipeline without rejects', args: ['--pipeline', 'other'], says: 'no rejects\n' },
    { name: 'a table without rejects', args: ['--table', 'station'], says: 'no rejects\n' },
  ])('$name', async ({ args, says }) =>
    expect((await etl(database.url, 'rejects', 'list', ...args)).out).toContain(says),
  );

  it.each([
    {
      args: ['--table', 'observtion'],
      says: 'error ETL_USAGE: no run has a table observtion\n  Did you mean observation?\n',
    },
    {
      args: ['1', '--table', 'stations'],
      says: 'error ETL_USAGE: run 1 has no table stations\n  Did you mean station?\n',
    },
    {
      args: ['2', '--table', 'weather'],
      says: 'error ETL_USAGE: run 2 has no table weather\n  There are observation.\n',
    },
    {
      args: ['6', '--table', 'weather'],
      says: `error ETL_USAGE: run 6 has no table weather\n  There are ${Array.from({ length: 10 }, (_, n) => `branch_${String(n + 1).padStart(2, '0')}`).join(', ')}, and 2 more.\n`,
    },
  ])('a table that there is not is a usage error: $args', async ({ args, says }) =>
    expect(await etl(database.url, 'rejects', 'list', ...args)).toEqual({ exit: 2, out: '', err: says }),
  );

  it('a run that got nowhere has no tables to choose from', async () =>
    expect((await etl(database.url, 'rejects', 'list', '3', '--table', 'station')).out).toMatch(
      /^run 3 of noaa \(loading, started .*\): 0 rejects\n$/,
    ));

  it('--json has all of it', async () => {
    const listed = JSON.parse((await etl(database.url, 'rejects', 'list', '--json')).out);
    expect(listed).toMatchObject({ runId: 2, pipeline: 'noaa', total: 2, kindsTotal: 2 });
    expect(listed.kinds[1]).toMatchObject({
      table: 'observation',
      column: 'temperature',
      code: 'type',
      count: 1,
      line: 7,
      lastLine: 7,
    });
    expect(listed.rejects[1]).toEqual({
      id: 1,
      run: 2,
      table: 'observation',
      file: 'data/2.txt',
      line: 7,
      lastLine: 7,
      byte: 400,
      record: 6,
      column: 'temperature',
      code: 'type',
      reason: "'warm' is not a number",
      raw: '1|warm\u001b[2J',
      faults: 1,
      more: [],
      isCorrected: false,
    });
  });

  it('an unknown run is a usage error', async () =>
    expect((await etl(database.url, 'rejects', 'list', '99')).exit).toBe(2));
});

it('a wrong password is one clear line without the password', async () => {
  const url = new URL(database.url);
  url.password = 'secret-and-wrong';
  const { exit, err } = await etl(url.href, 'status');
  expect(exit).toBe(1);
  expect(err).toContain('error ETL_CONNECT_AUTH');
  expect(err).not.toContain('secret-and-wrong');
});
