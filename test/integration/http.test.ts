// Files of a web server come to what the same local files come to, whatever the server does in between.

import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  env,
  loadPipelineFile,
  runPipeline,
  verifyPipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { dirtyCases } from '../unit/format/records/dirty-cases.ts';

const files = useFiles();
const server = useHttpFiles();
const database = useDatabase();

type CsvOptions = NonNullable<Parameters<typeof csv>[1]>;

afterEach(() => vi.unstubAllEnvs());

const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

/** Rejects and quoted line breaks among good records. */
const record = (n: number): string =>
  n % 997 === 0 ? `${n},no number` : `${n},${n % 3 === 0 ? `"line\n${'q'.repeat(n % 211)}"` : n}`;
const text = `id,words\r\n${Array.from({ length: 10_000 }, (_, n) => `${n % 499 === 0 ? 'x' : ''}${record(n)}\r\n`).join('')}`;

const load = async (
  name: string,
  paths: Parameters<typeof csv>[0],
  options: CsvOptions = { allowPrivate: true },
  run: Partial<Parameters<typeof runPipeline>[1]> = {},
) => {
  const events: RunEvent[] = [];
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(paths, options),
        columns: { id: column.integer('id'), words: column.text('words') },
        rejectLimit: 1_000,
      },
    },
  });
  const { tables, outcome } = await runPipeline(pipeline, {
    databaseUrl: database.url,
    workers: 1,
    chunkBytes: 200_000,
    onEvent: (event) => void events.push(event),
    ...run,
  });
  return {
    outcome,
    events,
    counts: [tables[0]!.records, tables[0]!.copied, tables[0]!.rejected, tables[0]!.rows],
    rows: await ask(
      `select count(*), sum(id) as ids, sum(hashtextextended(t::text, 0)::numeric) from ${name}.t`,
    ),
    rejects: await ask(
      `select line, last_line, byte, record, code, reason, raw from etl.reject r join etl.run on run.id = r.run_id
        where pipeline = '${name}' order by byte`,
    ),
  };
};

it('a file of a server that cuts the connection three times has the rows, rejects and lines of the local one', async () => {
  const local = await load('local', files.write('local.csv', text), {});
  expect(local.rejects.length).toBeGreaterThan(20);
  const forms = [
    { name: 'plain', bytes: Buffer.from(text), cuts: [100_000, 1, 130_000], workers: 2 },
    { name: 'gzip', bytes: gzipSync(text), cuts: [7_000, 1, 10_000], workers: 1 },
  ];
  for (const { name, bytes, cuts, workers } of forms) {
    const url = server.put(`/${name}`, { bytes });
    const before = server.requests.length;
    server.cuts = [...cuts];
    const { counts, rows, rejects } = await load(name, url, undefined, { workers });
    expect(server.cuts).toEqual([]);
    expect({ counts, rows, rejects }).toEqual({
      counts: local.counts,
      rows: local.rows,
      rejects: local.rejects,
    });
    const resumed = server.requests.slice(before).filter(({ headers }) => headers['if-range'] !== undefined);
    expect(resumed.length).toBeGreaterThanOrEqual(3);
  }
  // A run with the same version does nothing.
  expect((await load('plain', server.url('/plain'))).outcome).toBe('unchanged');
});

/** Every row of the bookkeeping, the staging tables and the queue. */
const bookkeeping = async (): Promise<unknown> => {
  const tables = await ask(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'etl%'`,
  );
  const stored: unknown[] = [];
  for (const { name } of tables as { name: string }[])
    stored.push(await ask(`select to_jsonb(t)::text from ${name} t`));
  return stored;
};

describe('a run of remote files', () => {
  const small = 'id,words\n1,a\n';

  it('asks with its secrets, and stores none of them', async () => {
    vi.stubEnv('HTTP_TEST_TOKEN', 'hidden-token');
    const url = server.put('/signed.csv?X-Amz-Signature=hidden-signature', small);
    const options = { allowPrivate: true, bearer: env('HTTP_TEST_TOKEN') };
    const logged: unknown[] = [];
    const log = (...said: unknown[]): void => void logged.push(said);
    const logger = { debug: log, info: log, warn: log, error: log };
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const { rows, events } = await load('secrets', url, options, { logger, tracer: provider.getTracer('t') });
    const spans = exporter
      .getFinishedSpans()
      .map(({ name, attributes, status }) => [name, attributes, status]);
    await provider.shutdown();
    expect(spans.length).toBeGreaterThan(5);
    expect(rows).toMatchObject([{ count: '1' }]);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer hidden-token');
    const stored = await bookkeeping();
    expect(JSON.stringify(stored)).toContain('signed.csv?X-Amz-Signature=***');
    expect(JSON.stringify([stored, events, logged, spans])).not.toMatch(/hidden-(?:token|signature)/);
  });

  it('asks for a blob of Azure by its SAS as it is written, shows nothing of it, and says when it has expired', async () => {
    const place = '/sales/2024/a%20b.csv';
    const signed = (sas: string) => `${place}?sv=2024-11-04&sr=c&sp=rl&spr=https&${sas}`;
    const sas = 'se=2026-12-01T00%3A00%3A00Z&sig=AbC%2Bhidden%2F%3D';
    const url = server.put(signed(sas), { bytes: Buffer.from(`${small}x,b\n`), etag: '"0x8DC"' });
    const shown = server.url(`${place}?sv=***&sr=***&sp=***&spr=***&se=***&sig=***`);
    const asked = server.requests.length;
    expect((await load('blob', url)).counts).toEqual([2, 1, 1, 1]);
    const requests = server.requests.slice(asked);
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set([signed(sas)]));
    const pipeline = files.write(
      'blob.ts',
      `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({ name: 'blob', schema: 'blob', tables: { t: {
  source: csv('${url}', { allowPrivate: true }), columns: { id: column.integer('id'), words: column.text('words') }, rejectLimit: 1_000 } } });`,
    );
    const [{ run } = { run: '' }] = (await ask('select max(id)::text as run from etl.run')) as {
      run: string;
    }[];
    const outputs: string[] = [];
    for (const command of [
      ['files', pipeline, '--json'],
      ['status', run, '--json'],
      ['preview', pipeline],
      ['rejects', 'list', '--pipeline', 'blob', '--json'],
      ['rejects', 'export', '--pipeline', 'blob'],
    ]) {
      const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
      await main(command, io);
      expect(io.stdout.text, command.join(' ')).toContain(shown);
      outputs.push(io.stdout.text, io.stderr.text);
    }
    server.trouble = (_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<?xml version="1.0"?><Error><Code>AuthenticationFailed</Code></Error>');
      return true;
    };
    const expired = await failureOf(load('blob', url));
    server.trouble = undefined;
    expect(expired).toMatchObject({
      code: 'ETL_SOURCE_DENIED',
      details: { file: shown },
      hint: expect.stringContaining('A signed URL may have expired: make a new one.'),
    });
    outputs.push(expired.message, expired.stack!);
    const plan = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
    server.put(signed(sas), `${small}3,c\n`);
    await main(['plan', pipeline, '--debug'], plan);
    expect(plan.stdout.text).toContain('blob.t');
    outputs.push(plan.stdout.text, plan.stderr.text);
    expect(JSON.stringify([outputs, await bookkeeping()])).not.toContain('hidden');
  });

  it('asks at each location with the secrets of that location', async () => {
    vi.stubEnv('HTTP_TEST_ONE', 'one');
    vi.stubEnv('HTTP_TEST_OTHER', 'other');
    const paths = [
      { path: server.put('/one.csv', 'id,words\n1,a;b\n'), bearer: env('HTTP_TEST_ONE') },
      { path: server.put('/other.csv', 'id;words\n2;a,b\n'), bearer: env('HTTP_TEST_OTHER'), delimiter: ';' },
    ];
    const asked = server.requests.length;
    const { counts } = await load('each_secret', paths);
    expect(counts).toEqual([2, 2, 0, 2]);
    const sent = server.requests.slice(asked).map(({ path, headers }) => `${path} ${headers.authorization}`);
    expect([...new Set(sent)].toSorted()).toEqual(['/one.csv Bearer one', '/other.csv Bearer other']);
  });

  it.each([
    { name: 'changes', act: () => server.put('/late.csv', `${small}2,b\n`) },
    { name: 'goes', act: () => server.remove('/late.csv') },
  ])('publishes nothing if one $name after it was loaded', async ({ name, act }) => {
    const url = server.put('/late.csv', small);
    const onEvent = ({ type, ...event }: RunEvent): void =>
      void (type === 'step' && 'step' in event && event.step === 'build' && act());
    const error = await failureOf(load(`late_${name}`, url, undefined, { onEvent }));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_CHANGED', details: { file: url } });
    expect(await ask(`select to_regclass('late_${name}.t') as found`)).toEqual([{ found: null }]);
  });

  it('ends at once when it is stopped, though it waits for a server', async () => {
    const stop = new AbortController();
    server.trouble = () => {
      stop.abort(new Error('enough'));
      return true;
    };
    const error = await failureOf(
      load('waits', server.put('/slow.csv', small), undefined, { signal: stop.signal }),
    );
    expect(error).toMatchObject({ code: 'ETL_INTERRUPTED', details: { signal: 'enough' } });
    server.trouble = undefined;
    await expect.poll(server.busy).toBe(0);
  });

  it('says that an empty answer is empty', async () => {
    const error = await failureOf(load('nothing', server.put('/nothing.csv', '')));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_EMPTY', details: { table: 't' } });
  });

  it('takes as many files as braces name, each once, and nothing warns', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    for (let n = 1; n <= 20; n += 1)
      server.put(`/many-${String(n).padStart(2, '0')}.csv`, `id,words\n${n},a\n`);
    const { rows } = await load('many', [server.url('/many-{01..20}.csv'), server.url('/many-{03,02}.csv')]);
    expect(rows).toMatchObject([{ count: '20', ids: '210' }]);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});

it('dirty files, each a table, come in gzip to the rows and rejects of the table of cases', async () => {
  const tables = dirtyCases.map(({ input, options, columns }, index) => {
    const url = server.put(`/dirty-${index}.csv.gz`, gzipSync(input));
    const source = csv(url, { ...options, allowPrivate: true });
    return [`t${index}`, { source, columns, rejectLimit: 10 }] as const;
  });
  await runPipeline(definePipeline({ name: 'dirty', schema: 'dirty', tables: Object.fromEntries(tables) }), {
    databaseUrl: database.url,
    workers: 1,
  });
  const found = await ask(
    tables
      .map(([name, { columns }]) => {
        const values = Object.keys(columns).map((of) => `${of}::text`);
        return `select coalesce((select json_agg(json_build_array(${values.join(', ')})) from dirty.${name}), '[]') as rows,
          array(select concat(code, '@', line, ':', column_name) from etl.reject r join etl.run on run.id = r.run_id
            where pipeline = 'dirty' and table_name = '${name}' order by byte) as rejects`;
      })
      .join(' union all '),
  );
  expect(found).toEqual(dirtyCases.map(({ rows, rejects }) => ({ rows, rejects })));
});

it('etl init reads a file at a private address if it may, and what it writes loads and is verified', async () => {
  const url = server.put('/init/people.csv.gz?sig=hidden', gzipSync('id,name\n1,Ann\n2,Bob\n'));
  const out = join(files.directory, 'people.ts');
  const refused = fakeIo();
  expect(await main(['init', url, '--yes', '--out', out], refused)).not.toBe(0);
  expect(refused.stderr.text).toContain('allowPrivate');
  const written = fakeIo();
  expect(await main(['init', url, '--yes', '--out', out, '--allow-private'], written)).toBe(0);
  expect(written.stdout.text + written.stderr.text).toContain('the address holds a secret');
  expect(written.stdout.text + written.stderr.text + refused.stderr.text).not.toContain('hidden');
  const { pipeline, directory } = await loadPipelineFile(out);
  await runPipeline(pipeline, { databaseUrl: database.url, directory, workers: 1 });
  expect(await ask('select * from people.people order by id')).toEqual([
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ]);
  const { tables } = await verifyPipeline(pipeline, { databaseUrl: database.url, directory });
  expect(tables.map(({ outcome }) => outcome)).toEqual(['same']);
});
