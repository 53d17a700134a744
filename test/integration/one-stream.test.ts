// One stream that all workers load comes to what one worker makes of the plain file, also in two runs with gaps between them.

import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  joinRun,
  runPipeline,
  type RunEvent,
  type RunOptions,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const ask = async (sql: string): Promise<readonly Record<string, unknown>[]> =>
  (await database.query(sql)).rows;

/** Rejects of every kind, quoted line ends, blank lines, records that a piece has no room for, and one that is too long. */
const record = (n: number): string => {
  if (n === 2_000) return `${n},4,${'long '.repeat(420_000)}`;
  if (n === 1_250 || n === 2_750) return `${n},900,waits while somebody holds a lock`;
  if (n % 499 === 0) return `${n},no number,plain`;
  if (n % 751 === 0) return `${n},13,"never closed`;
  if (n % 601 === 0) return `${n},7,the server refuses what is odd`;
  if (n % 1_003 === 0) return `${n},2,${'z'.repeat(150_000)}`;
  if (n % 301 === 0) return '';
  return n % 3 === 0
    ? `${n},${2 * (n % 50)},"line\n""${'q'.repeat(n % 211)}"""`
    : `${n},2,${'y'.repeat(n % 90)}`;
};
const lines = Array.from({ length: 5_000 }, (_, index) => `${record(index + 1)}\r\n`);
const text = Buffer.from(`id,n,words\r\n${lines.join('')}${'\r\n'.repeat(45_000)}`);
/** Members that end anywhere. */
const zipped = Buffer.concat(
  [0, 1, 77_777, 150_001, 500_000].map((from, index, all) => gzipSync(text.subarray(from, all[index + 1]))),
);

const chunkBytes = 60_000;

interface Loading extends RunOptions {
  readonly check?: (word: string) => boolean;
}

const load = async (name: string, bytes: Buffer | undefined, { check, ...options }: Loading) => {
  const events: RunEvent[] = [];
  // Written again, it would be another version.
  const path = bytes === undefined ? `${files.directory}/${name}.csv` : files.write(`${name}.csv`, bytes);
  const words = column.text('words');
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(path),
        columns: {
          id: column.integer('id'),
          n: column.of('public.even', 'n'),
          words: check === undefined ? words : words.check(check, 'is wrong'),
        },
        rejectLimit: 1_000,
      },
    },
  });
  const onEvent = (event: RunEvent): void => void events.push(event);
  const run = runPipeline(pipeline, {
    databaseUrl: database.url,
    chunkBytes,
    redis: false,
    onEvent,
    ...options,
  });
  return { result: await run, events };
};

const outcomeOf = async (name: string) => ({
  rows: await ask(`select count(*), sum(n), sum(hashtextextended(t::text, 0)::numeric) from ${name}.t`),
  rejects: await ask(
    `select line, last_line, byte, record, code, reason, raw from etl.reject r join etl.run on run.id = r.run_id
      where pipeline = '${name}' order by byte`,
  ),
});

const chunksOf = (name: string) =>
  ask(`select byte_start::int as start, byte_end::int as end, c.committed_at::text as committed
    from etl.chunk c join etl.source_file f on f.id = file_id join etl.run r on r.id = run_id
    where pipeline = '${name}' and c.epoch = r.epoch order by byte_start`);

/** Sessions that wait for the lock. */
const waiting = async (): Promise<unknown> =>
  (await ask(`select count(*)::int as n from pg_locks where objid = 42 and not granted`))[0]!['n'];

/** Ranges between chunks; the data begins after the header. */
const gapsIn = (chunks: readonly Record<string, unknown>[]): number =>
  chunks.filter(({ start }, index) => start !== (chunks[index - 1]?.['end'] ?? 12)).length;

let plain: Awaited<ReturnType<typeof outcomeOf>>;
beforeAll(async () => {
  await database.query(`create function public.waits(value integer) returns boolean language plpgsql as $$
      begin
        if value = 900 then perform pg_advisory_xact_lock_shared(42); end if;
        return value % 2 = 0;
      end $$;
    create domain public.even as integer check (public.waits(value))`);
  await load('plain', text, { workers: 1 });
  plain = await outcomeOf('plain');
});

describe('one file in gzip', () => {
  it('has the rows, rejects, lines and bytes of the plain file, and says how far it is', async () => {
    const { result, events } = await load('zipped', zipped, { workers: 2, profile: true });
    expect(await outcomeOf('zipped')).toEqual(plain);
    expect(plain.rejects.length).toBeGreaterThan(20);
    const last = events.findLast((event) => event.type === 'progress')!;
    expect([last.bytes, last.bytesTotal]).toEqual([text.length - 12, text.length - 12]);
    expect(events.filter(({ type }) => type === 'loaded')).toHaveLength(1);
    expect(result.profile!.load[0]!.read).toBeGreaterThan(0);
    expect(result.tables[0]!.bytes).toBe(zipped.length);
    const file = `select decoding, data_end::int from etl.source_file where name like '%/zipped.csv'`;
    expect(await ask(file)).toEqual([{ decoding: 'gzip', data_end: text.length }]);
    const chunks = await chunksOf('zipped');
    expect(chunks.length).toBeGreaterThan(10);
    expect(gapsIn(chunks)).toBe(0);
    expect(chunks.at(-1)!['end']).toBe(text.length);
    expect((await load('zipped', undefined, { workers: 2 })).result.outcome).toBe('unchanged');
  });

  it('is loaded in the main thread by loaders that cannot be elsewhere, and read in another', async () => {
    const seen: string[] = [];
    const check = (word: string): boolean => seen.push(word) > 0;
    await load('here', zipped, { workers: 2, check });
    expect(await outcomeOf('here')).toEqual(plain);
    expect(seen.length).toBeGreaterThan(4_500);
  });

  it('may hold no more than a header, a record or blank lines, and be one of several', async () => {
    const contents = { header: '', record: '1,2,a', blank: '\r\n'.repeat(500) };
    const words = { words: column.text('words') };
    const tables = Object.entries(contents).map(([name, rest]) => {
      const source = csv(files.write(`no_more_${name}.csv`, gzipSync(`id,n,words\r\n${rest}`)));
      return [name, { source, columns: words }] as const;
    });
    const pipeline = definePipeline({
      name: 'several',
      schema: 'several',
      tables: Object.fromEntries(tables),
    });
    const options = { databaseUrl: database.url, redis: false as const, workers: 2, chunkBytes: 20 };
    const result = await runPipeline(pipeline, options);
    expect(result.tables.map(({ table, records, rows }) => [table, records, rows])).toEqual([
      ['header', 0, 0],
      ['record', 1, 1],
      ['blank', 0, 0],
    ]);
    const ends = await ask(`select table_name as table, data_end::int as end from etl.source_file
      where name like '%no_more_%' order by id`);
    expect(ends).toEqual(Object.entries(contents).map(([table, rest]) => ({ table, end: 12 + rest.length })));
  });

  it('that is cut off stops the run at that byte, with all that came before it in the ledger', async () => {
    const cut = zipped.subarray(0, -2_000);
    const one = await failureOf(load('cut_one', cut, { workers: 1 }));
    const two = await failureOf(load('cut_two', cut, { workers: 2 }));
    expect(two).toMatchObject({ code: 'ETL_SOURCE_CORRUPT', details: { table: 't' } });
    expect(two.details['byte']).toBe(one.details['byte']);
    const chunks = await chunksOf('cut_two');
    expect(gapsIn(chunks)).toBe(0);
    expect(chunks.length).toBeGreaterThan(5);
  });

  it('stops when a loader fails, and goes on where it was drained', async () => {
    const check = (word: string): boolean => {
      if (word.startsWith('zzz')) throw new Error('a mistake');
      return true;
    };
    const failed = await failureOf(load('fails', zipped, { workers: 2, check }));
    expect(failed).toMatchObject({ code: 'ETL_USER_FUNCTION' });
    const drain = new AbortController();
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'progress' && event.records > 250) drain.abort();
    };
    await failureOf(load('drained', zipped, { workers: 2, drain: drain.signal, onEvent }));
    const before = await chunksOf('drained');
    expect(before.length).toBeGreaterThan(0);
    await load('drained', undefined, { workers: 2 });
    expect(await outcomeOf('drained')).toEqual(plain);
    expect(await chunksOf('drained')).toEqual(expect.arrayContaining([...before]));
  });

  it('goes on with several gaps in the middle, and loads nothing again', async () => {
    const stop = new AbortController();
    await database.query('select pg_advisory_lock(42)');
    const stopped = failureOf(load('gaps', zipped, { workers: 3, signal: stop.signal }));
    // Two of the three loaders wait, each with another chunk; the third one goes on behind both.
    while ((await waiting()) !== 2 || gapsIn(await chunksOf('gaps')) < 2) await sleep(20);
    stop.abort();
    await stopped;
    await database.query('select pg_advisory_unlock(42)');
    const before = await chunksOf('gaps');
    expect(gapsIn(before)).toBeGreaterThan(1);
    await load('gaps', undefined, { workers: 1 });
    expect(await outcomeOf('gaps')).toEqual(plain);
    const after = await chunksOf('gaps');
    expect(after).toEqual(expect.arrayContaining([...before]));
    expect(gapsIn(after)).toBe(0);
  });

  it('is loaded by all workers of a process that helps', async () => {
    const short = gzipSync(`id,n,words\r\n${lines.slice(1_200, 2_800).join('')}`);
    for (const n of [1, 2, 3]) files.write(`helped_${n}.csv`, short);
    const columns = { id: column.integer('id'), n: column.of('public.even', 'n') };
    const t = {
      source: csv(`${files.directory}/helped_*.csv`),
      columns,
      copies: 'load',
      rejectLimit: 1_000,
    } as const;
    const pipeline = definePipeline({ name: 'helped', schema: 'helped', tables: { t } });
    const options = { databaseUrl: database.url, redis: false as const, workers: 2, chunkBytes };
    await database.query('select pg_advisory_lock(42)');
    const running = runPipeline(pipeline, options);
    while ((await waiting()) !== 2) await sleep(20);
    const helping = joinRun(pipeline, options);
    // Two of the three streams are the coordinator's; both loaders of the helper wait within the third.
    while ((await waiting()) !== 4) await sleep(20);
    await database.query('select pg_advisory_unlock(42)');
    const { tables } = await running;
    await helping;
    const { records, copied, rejected } = tables[0]!;
    expect(copied + rejected).toBe(records);
    const sums = await ask('select count(*)::int as rows, count(distinct id)::int as ids from helped.t');
    expect(sums).toEqual([{ rows: copied, ids: copied / 3 }]);
  });
});
