// Objects of an S3 server as files: listed, read, resumed, refused; and loaded with the numbers of local files.

import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import noaa from '../../pipelines/noaa.ts';
import { column, csv, definePipeline, listFiles, runPipeline, verifyPipeline } from '../../src/index.ts';
import type { RunEvent } from '../../src/core/run-event.ts';
import type { KnownFile, Listing } from '../../src/input/sources/contract.ts';
import { s3 } from '../../src/input/sources/s3/s3.ts';
import { signedRequest } from '../../src/input/sources/s3/client.ts';
import { createClient } from '../../src/input/sources/s3/client.ts';
import { initText, readForInit } from '../../src/tools/init/write-init.ts';
import { listKeys } from '../../src/input/sources/s3/list-objects.ts';
import { patience, settingsOf } from '../../src/input/sources/s3/settings.ts';
import { failureOf } from '../helpers/failure.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { s3Keys, startS3, type S3Server } from '../helpers/s3.ts';
import { describeSource } from '../unit/input/sources/conformance.ts';
import { accessWith } from '../helpers/source-access.ts';

let server: S3Server;
const database = useDatabase();
const web = useHttpFiles();

beforeAll(async () => {
  server = await startS3();
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

const listing = (locations: readonly string[], varied?: Listing['varied']): Listing => ({
  table: 't',
  locations,
  workingDirectory: '/',
  varied,
});
const named = (location: string) => ({ table: 't', name: location, location });
const list = async (locations: readonly string[], options = {}, varied?: Listing['varied']) => {
  const found: string[] = [];
  for await (const { location } of s3.list(listing(locations, varied), accessWith(options)))
    found.push(location);
  return found;
};
const look = async (location: string, options = {}): Promise<KnownFile & { head: Buffer }> => ({
  ...named(location),
  ...(await s3.look(named(location), accessWith(options))),
});
const read = async (file: KnownFile, options = {}, start = 0, end = Infinity): Promise<Buffer> => {
  const blocks: Buffer[] = [];
  for await (const block of s3.open(file, accessWith(options), start, end)) blocks.push(block);
  return Buffer.concat(blocks);
};

describeSource('S3', () => ({
  source: s3,
  put: (name, bytes) => {
    server.put('same', name, bytes);
    return `s3://same/${name}`;
  },
  remove: (name) => server.remove('same', name),
  access: (signal) => accessWith({}, signal),
  three: () => ['s3://same/[ab].csv', 's3://same/c.csv', 's3://same/a.csv'],
  opened: () => server.busy(),
  noticesAtOpen: true,
}));

describe('keys', () => {
  const keys = [
    "a'(1)!*.csv",
    'a b+c%20.csv',
    'a"<>&amp;.csv',
    'a,b;c:d@e$=?#.csv',
    'back\\slash.csv',
    'emoji-\u{1F600}/ü.csv',
    '~001',
  ];

  it('may have every character that a URL has another meaning for', async () => {
    for (const key of keys) server.put('odd', key, `rows of ${key}`);
    expect(await list(['s3://odd/**'])).toEqual(keys.map((key) => `s3://odd/${key}`).toSorted());
    for (const key of keys) {
      const file = await look(`s3://odd/${key}`);
      expect(file.head.toString()).toBe(`rows of ${key}`);
      expect((await read(file)).toString()).toBe(`rows of ${key}`);
    }
  });

  it('are listed page by page, below the prefix only', async () => {
    const each = Array.from({ length: 7 }, (_, number) => `p/${number}.csv`);
    for (const key of each) server.put('pages', key, key);
    server.put('pages', 'q.csv', '');
    const client = createClient(await settingsOf({}, process.env));
    await server.order();
    const found: string[] = [];
    const asked = { file: named('s3://pages/p/*'), bucket: 'pages', prefix: 'p/', most: 3 };
    for await (const { key } of listKeys(client, asked, patience.look)) found.push(key);
    expect(found).toEqual(each);
    const requests = await server.order();
    // No page is asked for before the keys of the last one are taken: of a long listing one is in memory.
    for await (const _ of listKeys(client, asked, patience.look)) break;
    expect(await server.order()).toHaveLength(1);
    expect(requests).toHaveLength(3);
    expect(requests[2]).toMatch(
      /continuation-token=\S+&encoding-type=url|encoding-type=url.*continuation-token=/,
    );
  });

  it.each([
    ['names no next page', ''],
    ['names the same page again', '<NextContinuationToken>x</NextContinuationToken>'],
  ])('of a list that %s are not all: an error; blanks are plus signs there', async (_, next) => {
    const page = `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>${next}
      <Contents><Key>a+b%2Bc.csv</Key></Contents></ListBucketResult>`;
    web.trouble = (__, response) => {
      response.writeHead(200).end(page);
      return true;
    };
    onTestFinished(() => void (web.trouble = undefined));
    const client = createClient(await settingsOf({ endpoint: web.url('') }, process.env));
    const found: string[] = [];
    const reading = (async () => {
      const asked = { file: named('s3://pages/*'), bucket: 'pages', prefix: '' };
      for await (const { key } of listKeys(client, asked, patience.look)) found.push(key);
    })();
    await expect(reading).rejects.toThrow('a list that does not go on');
    expect(found).toEqual(next === '' ? [] : ['a b+c.csv']);
  });

  it('are matched as paths of local files are', async () => {
    for (const key of ['m/a.csv', 'm/b.csv', 'm/.c.csv', 'm/d/e.csv', 'm/x[1].csv', 'm/x1.csv'])
      server.put('glob', key, key);
    expect(await list(['s3://glob/m/*.csv'])).toEqual(
      ['a', 'b', 'x1', 'x[1]'].map((name) => `s3://glob/m/${name}.csv`),
    );
    expect(await list(['s3://glob/m/**/e.csv', 's3://glob/m/{b,a}.csv'])).toEqual(
      ['d/e', 'a', 'b'].map((name) => `s3://glob/m/${name}.csv`),
    );
    for (const key of ['n/\na.csv', 'n/i\nb.csv']) server.put('glob', key, key);
    for (const glob of ['n/*.csv', '**/{\n,i}*.csv'])
      expect(await list([`s3://glob/${glob}`])).toEqual(['s3://glob/n/\na.csv', 's3://glob/n/i\nb.csv']);
    // A key that is there is no glob.
    expect(await list(['s3://glob/m/x[1].csv'])).toEqual(['s3://glob/m/x[1].csv']);
    expect(await list(['s3://glob/m/?.csv', '!s3://glob/m/b*', 's3://glob/m/a.csv'])).toEqual([
      's3://glob/m/a.csv',
    ]);
  });

  it('that nothing has, or that exclusions leave out, are reported', async () => {
    expect(await failureOf(list(['s3://glob/none/*.csv']))).toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
      message: 'table t: no file matches s3://glob/none/*.csv (looked in glob)',
    });
    expect(await failureOf(list(['s3://glob/m/a.csv', '!s3://glob/**']))).toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
    });
  });

  it('are in the bucket that the pipeline names, whatever a parameter says', async () => {
    const file = 's3://glob/m/a.csv';
    const varied = (...others: readonly string[]) => new Map([[file, others]]);
    expect(await list([file], {}, varied('s3://glob/m/b.csv', 's3://glob/x'))).toHaveLength(1);
    for (const other of ['s3://x/m/a.csv', 's3://globx/m/a.csv', 'x', 's3://GLOB/m/a.csv', ''])
      expect(await failureOf(list([file], {}, varied('s3://glob/x', other)))).toMatchObject({
        code: 'ETL_SOURCE_OUTSIDE',
      });
    expect(await failureOf(list(['s3://glob/m/../a.csv']))).toMatchObject({ code: 'ETL_SOURCE_IRREGULAR' });
  });
});

const content = Buffer.from(Array.from({ length: 40_000 }, (_, number) => `${number},row\n`).join(''));

describe('an object', () => {
  it('is looked at in one request, and read in one from any byte', async () => {
    server.put('data', 'big.csv', content);
    server.put('data', 'empty.csv', '');
    await server.order();
    const file = await look('s3://data/big.csv');
    expect(file).toMatchObject({
      bytes: content.length,
      fingerprint: expect.stringMatching(/^\d+::"\w{32}"$/),
    });
    expect(file.head.equals(content.subarray(0, 65_536))).toBe(true);
    expect((await read(file)).equals(content)).toBe(true);
    expect((await read(file, {}, 1_000, 300_000)).equals(content.subarray(1_000, 300_000))).toBe(true);
    expect(await server.order()).toEqual([
      'GET /data/big.csv bytes=0-65535',
      'GET /data/big.csv',
      'GET /data/big.csv bytes=1000-',
    ]);
    expect(await look('s3://data/empty.csv')).toMatchObject({ bytes: 0, head: Buffer.alloc(0) });
  });

  it('is read on from the last byte after a cut, a busy server and an error', async () => {
    const file = await look('s3://data/big.csv');
    await server.order(
      { on: 'big', cutAfter: 100_000 },
      { on: 'big', status: 503, code: 'SlowDown' },
      { on: 'big', cutAfter: 50_000 },
      { on: 'big', status: 400, code: 'RequestTimeout' },
    );
    expect((await read(file)).equals(content)).toBe(true);
    const requests = await server.order();
    expect(requests).toHaveLength(5);
    const starts = requests.map((request) => Number(/bytes=(\d+)-$/.exec(request)?.[1] ?? 0));
    expect(starts[0]).toBe(0);
    expect(starts[1]).toBeGreaterThan(0);
    expect(starts[4]).toBeGreaterThan(starts[2]!);
  });

  it('that changed since it was looked at is refused, whether or not the server compares', async () => {
    server.put('data', 'changes.csv', 'old');
    const file = await look('s3://data/changes.csv');
    server.put('data', 'changes.csv', 'new');
    expect(await failureOf(read(file))).toMatchObject({ code: 'ETL_SOURCE_CHANGED' });
    await server.order({ on: 'changes', status: 412, code: 'PreconditionFailed' });
    expect(await failureOf(read(file))).toMatchObject({ code: 'ETL_SOURCE_CHANGED' });
  });

  it.each([
    ['a header', { status: 301, code: 'PermanentRedirect', headers: { 'x-amz-bucket-region': 'eu-west-1' } }],
    ['the error', { status: 400, code: 'AuthorizationHeaderMalformed', region: 'eu-west-1' }],
  ])('is found in the region that %s of the server names, once for a table', async (_, answer) => {
    server.put('far', 'a.csv', 'far');
    await server.order({ on: '^/far.* (?!eu-west-1)', times: 9, ...answer });
    const access = accessWith();
    const file = named('s3://far/a.csv');
    expect(await s3.look(file, access)).toMatchObject({ bytes: 3 });
    expect(await s3.look(file, access)).toMatchObject({ bytes: 3 });
    expect(await server.order()).toHaveLength(3);
  });

  it('whose server does not say its size is refused, and not called empty', async () => {
    web.put('/bucket/a.csv', { bytes: Buffer.from('a\n1\n'), length: false, ranges: false });
    const options = { endpoint: web.url(''), anonymous: true };
    expect(await failureOf(look('s3://bucket/a.csv', options))).toMatchObject({
      code: 'ETL_SOURCE_FORMAT',
      message: 'table t: s3://bucket/a.csv is sent without its size',
      hint: expect.stringContaining('Content-Encoding'),
    });
  });

  it('is asked for as Google Cloud Storage wants it: by its path, signed for the region auto', async () => {
    const { url, headers } = await signedRequest(
      { bucket: 'sales', key: '2024/a b.csv' },
      {
        endpoint: 'https://storage.googleapis.com',
        region: 'auto',
        signer: { accessKeyId: 'GOOG1E', secretAccessKey: 'secret' },
        cache: new Map(),
      },
    );
    expect(url.href).toBe('https://storage.googleapis.com/sales/2024/a%20b.csv');
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=GOOG1E\/\d{8}\/auto\/s3\/aws4_request, /,
    );
  });

  it('of a public bucket needs no credentials', async () => {
    server.put('public', 'a.csv', 'for all');
    vi.stubEnv('AWS_ACCESS_KEY_ID', '');
    try {
      const file = await look('s3://public/a.csv', { anonymous: true });
      expect((await read(file, { anonymous: true })).toString()).toBe('for all');
      expect(await failureOf(look('s3://public/a.csv'))).toMatchObject({
        code: 'ETL_SOURCE_CREDENTIALS',
        message: expect.stringMatching(
          /^table t: no valid credentials for s3:\/\/public\/a.csv: no credentials were found/,
        ),
        hint: expect.stringContaining('anonymous: true'),
      });
    } finally {
      vi.stubEnv('AWS_ACCESS_KEY_ID', server.env['AWS_ACCESS_KEY_ID']);
    }
  });
});

describe('a refusal', () => {
  it.each([
    [404, 'NoSuchKey', 'ETL_SOURCE_GONE', 'key'],
    [404, 'NoSuchBucket', 'ETL_SOURCE_ADDRESS', 'bucket'],
    [403, 'AccessDenied', 'ETL_SOURCE_DENIED', 's3:GetObject'],
    [403, undefined, 'ETL_SOURCE_DENIED', 's3:GetObject'],
    [403, 'InvalidAccessKeyId', 'ETL_SOURCE_CREDENTIALS', 'AWS_ACCESS_KEY_ID'],
    [403, 'SignatureDoesNotMatch', 'ETL_SOURCE_CREDENTIALS', 'AWS_SECRET_ACCESS_KEY'],
    [400, 'ExpiredToken', 'ETL_SOURCE_CREDENTIALS', 'run again'],
    [403, 'RequestTimeTooSkewed', 'ETL_SOURCE_CREDENTIALS', 'clock'],
    [403, 'InvalidObjectState', 'ETL_SOURCE_ARCHIVED', 'Restore'],
    [301, 'PermanentRedirect', 'ETL_SOURCE_ADDRESS', 'region'],
    [418, undefined, 'ETL_SOURCE_ADDRESS', 'AWS_ENDPOINT_URL_S3'],
  ])('%s %s is %s', async (status, code, ours, advice) => {
    await server.order({ on: 'big', times: 9, status, code });
    const failure = await failureOf(look('s3://data/big.csv'));
    await server.order();
    expect(failure).toMatchObject({ code: ours, hint: expect.stringContaining(advice) });
    expect((failure as Error).message).toContain('s3://data/big.csv');
  });

  it('of the real server is the same', async () => {
    expect(await failureOf(look('s3://data/none.csv'))).toMatchObject({ code: 'ETL_SOURCE_GONE' });
    expect(await failureOf(list(['s3://no-such-bucket/*.csv']))).toMatchObject({
      code: 'ETL_SOURCE_ADDRESS',
    });
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not-the-secret');
    const wrong = await failureOf(look('s3://data/big.csv'));
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', server.env['AWS_SECRET_ACCESS_KEY']);
    expect(wrong).toMatchObject({ code: 'ETL_SOURCE_CREDENTIALS' });
    expect(JSON.stringify([wrong, (wrong as Error).message, (wrong as Error).stack])).not.toContain(
      'not-the-secret',
    );
  });
});

it('etl init reads a compressed object of a bucket, and writes the pipeline that loads it', async () => {
  server.put('init', 'people.csv.gz', gzipSync('id,name\n1,Ann\n2,Bob\n'));
  const draft = await readForInit({ locations: ['s3://init/*.gz'], workingDirectory: '/' });
  expect(await initText(draft, draft.name, 'x.ts')).toContain(`source: csv('s3://init/*.gz'),
      columns: {
        id: column.integer('id'), // 2 of 2, 1 to 2
        name: column.text('name'), // 2 of 2
`);
});

describe('a run', () => {
  it('asks three times for a small object and once for each thousand keys, over few connections', async () => {
    for (let number = 0; number < 40; number += 1) server.put('small', `${number}.csv`, `id\n${number}\n`);
    const pipeline = definePipeline({
      name: 'small',
      schema: 'small',
      tables: {
        t: {
          source: csv('s3://small/*.csv'),
          columns: { id: column.integer('id') },
          primaryKey: ['id'],
          publish: 'append',
        },
      },
    });
    const before = await server.connections();
    await server.order();
    const { tables } = await runPipeline(pipeline, { databaseUrl: database.url });
    expect(tables[0]).toMatchObject({ files: 40, rows: 40 });
    // To plan, to load, and before publication.
    expect(await server.order()).toHaveLength(1 + 3 * 40);
    // As many as files are looked at at once; those that load take over what is left.
    expect((await server.connections()) - before).toBeLessThanOrEqual(20);
    // What is in production is known by the listing.
    server.put('small', '7.csv', 'id\n77\n');
    server.put('small', '40.csv', 'id\n40\n');
    expect(await runPipeline(pipeline, { databaseUrl: database.url })).toMatchObject({
      tables: [{ rows: 41 }],
      held: [{ file: 's3://small/7.csv', code: 'ETL_FILE_CHANGED' }],
    });
    // Two objects to plan, and one of them to load and before publication.
    expect(await server.order()).toHaveLength(1 + 2 + 2);
    server.put('small', '7.csv', 'id\n7\n');
    const restored = await runPipeline(pipeline, { databaseUrl: database.url });
    expect([restored.outcome, restored.held]).toEqual(['unchanged', undefined]);
    expect(await server.order()).toHaveLength(1);
    // One that is new is opened to see whether it is known by what it holds; they stay in the order of the listing.
    server.put('small', '20a.csv', 'id\n41\n');
    const listed = await listFiles(pipeline, { databaseUrl: database.url });
    expect(await server.order()).toHaveLength(1 + 1);
    expect(listed.filter(({ state }) => state === 'in production')).toHaveLength(41);
    expect(listed.map(({ file }) => file)).toEqual(listed.map(({ file }) => file).toSorted());
    expect(listed.find(({ state }) => state === 'new')).toMatchObject({ file: 's3://small/20a.csv' });
    // `etl verify` counts objects as it counts files, and does not compare what is another object by now.
    const verify = () => verifyPipeline(pipeline, { databaseUrl: database.url });
    expect(await verify()).toMatchObject({ outcome: 'same', tables: [{ by: 'table', rows: 41 }] });
    await database.query('update small.t set id = -1 where id = 7');
    expect((await verify()).tables[0]!.differences).toMatchObject([{ column: 'id', what: 'sum' }]);
    server.put('small', '7.csv', 'id\n-1\n');
    expect((await verify()).tables[0]!.notCompared).toMatchObject([
      { file: 's3://small/7.csv', reason: expect.stringMatching(/^it has changed since run \d+ loaded it$/) },
      { file: null, reason: expect.stringContaining('not all files could be counted') },
    ]);
  });

  it('are followed when they are moved, and copies are refused', async () => {
    const run = async (copies: 'refuse' | 'load' = 'refuse') => {
      const said: string[] = [];
      const source = csv('s3://copied/*.csv');
      const pipeline = definePipeline({
        name: 'copied',
        schema: 'copied',
        tables: { t: { source, columns: { id: column.integer('id') }, publish: 'append', copies } },
      });
      const onEvent = (event: RunEvent) => event.type === 'notice' && said.push(event.message);
      const { outcome } = await runPipeline(pipeline, { databaseUrl: database.url, onEvent });
      return { outcome, said };
    };
    const ids = async () =>
      (await database.query("select string_agg(id::text, ' ' order by id) as ids from copied.t")).rows[0]!
        .ids;
    server.put('copied', '1.csv', 'id\n1\n');
    // As large as the other.
    server.put('copied', '2.csv', 'id\n2\n');
    await run();
    // An object is moved by copying it: its time is another, and its version.
    server.put('copied', '3.csv', 'id\n1\n');
    server.remove('copied', '1.csv');
    const moved =
      't: files were moved or renamed since they were loaded, and their rows are kept: 1 file: s3://copied/1.csv → s3://copied/3.csv';
    expect(await run()).toEqual({ outcome: 'unchanged', said: [moved] });
    expect(await run()).toEqual({ outcome: 'unchanged', said: [] });
    server.put('copied', '4.csv', 'id\n1\n');
    expect(await failureOf(run())).toMatchObject({
      code: 'ETL_FILE_COPY',
      details: { files: '1 file: s3://copied/4.csv of s3://copied/3.csv, which is in production' },
    });
    expect((await run('load')).outcome).toBe('published');
    expect(await ids()).toBe('1 1 2');
  });

  /** NOAA's pipeline with its files in a bucket, half of them compressed. */
  const fromBucket = () => {
    const { station, observation, daily } = noaa.tables as Record<string, { source: object }>;
    return definePipeline({
      name: 'noaa',
      schema: 'noaa',
      tables: {
        station: { ...station, source: csv('s3://noaa/*station.txt.gz', { delimiter: '|', quote: null }) },
        observation: {
          ...observation,
          source: csv('s3://noaa/2011??hourly.*', { trim: true, nulls: ['', 'M', 'null'] }),
        },
        daily,
      },
    } as never);
  };
  const run = () => ({ databaseUrl: database.url, directory: 'pipelines' });
  const published = async (): Promise<unknown[]> => {
    const made = [];
    for (const table of ['station', 'observation', 'daily'])
      made.push(
        (
          await database.query(
            `select count(*), sum(hashtextextended(t::text, 0)::numeric) from noaa.${table} t`,
          )
        ).rows,
      );
    return made;
  };

  it('has the numbers of a run of local files', async () => {
    for (const [index, name] of readdirSync('data/noaa')
      .filter((file) => !file.includes('Doc'))
      .entries()) {
      const bytes = readFileSync(`data/noaa/${name}`);
      if (index % 2 === 0) server.put('noaa', `${name}.gz`, gzipSync(bytes));
      else server.put('noaa', name, bytes);
    }
    const { tables: local } = await runPipeline(noaa, run());
    const before = await published();
    const { tables: remote, outcome } = await runPipeline(fromBucket(), run());
    expect(outcome).toBe('published');
    expect(await published()).toEqual(before);
    const numbers = (tables: typeof local) =>
      tables.map((t) => [t.table, t.records, t.copied, t.rejected, t.filtered, t.rows]);
    expect(numbers(remote)).toEqual(numbers(local));
    expect((await runPipeline(fromBucket(), run())).outcome).toBe('unchanged');
  });

  it('publishes nothing if an object changed after it was loaded, and shows and keeps no credentials', async () => {
    const said: unknown[] = [];
    const log = (...all: unknown[]): void => void said.push(all);
    const pipeline = definePipeline({
      name: 'changing',
      schema: 'changing',
      tables: { t: { source: csv('s3://changing/*.csv'), columns: { id: column.integer('id') } } },
    });
    server.put('changing', 'a.csv', 'id\n1\n');
    const failure = await failureOf(
      runPipeline(pipeline, {
        ...run(),
        logger: { debug: log, info: log, warn: log, error: log },
        onEvent: ({ type, ...event }) => {
          said.push(type, event);
          if (type === 'loaded') server.put('changing', 'a.csv', 'id\n2\n');
        },
      }),
    );
    expect(failure).toMatchObject({ code: 'ETL_SOURCE_CHANGED', details: { file: 's3://changing/a.csv' } });
    const { rows } = await database.query("select to_regclass('changing.t') is null as is_missing");
    expect(rows).toEqual([{ is_missing: true }]);
    said.push(failure.message, failure.stack);
    const { rows: kept } = await database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'etl%'`,
    );
    for (const { name } of kept)
      said.push((await database.query(`select to_jsonb(t)::text from ${name} t`)).rows);
    expect(JSON.stringify(said)).toContain('s3://changing/a.csv');
    expect(JSON.stringify(said)).not.toContain(s3Keys.secretAccessKey);
  });
});
