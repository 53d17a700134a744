// Traces of the command line, as processes with the SDK of docs/operations/tracing.md: spans come over OTLP, and only when
// asked for.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient, withTransaction } from '../../src/db/client.ts';
import { useFiles } from '../helpers/files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { paths, sumOf, type FlatSpan } from '../helpers/trace-tree.ts';
import { until } from '../helpers/workers.ts';
import { readProjectFile, root } from '../unit/project/source-files.ts';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly boolValue?: boolean;
}

/** What an OTLP/HTTP exporter posts, as far as it matters here. */
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
        readonly status: { readonly code?: number; readonly message?: string };
      }[];
    }[];
  }[];
}

const database = useDatabase();
const files = useFiles();
const children: ChildProcess[] = [];
let spans: FlatSpan[] = [];

const flatten = (from: string, { resourceSpans }: OtlpBody): readonly FlatSpan[] =>
  resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    .map(({ name, traceId, spanId, parentSpanId, attributes, status }) => ({
      name,
      trace: traceId,
      id: spanId,
      parent: parentSpanId || undefined,
      from,
      attributes: Object.fromEntries(
        attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]),
      ),
      failed: status.code === 2 ? status.message : undefined,
    }));

/** Takes spans of each process under a path of its own. */
const receiver = createServer((request, response) => {
  const take = async (): Promise<void> => {
    spans.push(...flatten(request.url!.slice(1), (await json(request)) as OtlpBody));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  void take();
});

/** `etl` with the SDK loaded, in the directory of the files. */
const etl = (name: string, ...args: string[]): ChildProcess => {
  const { port } = receiver.address() as AddressInfo;
  const child = spawn(process.execPath, [join(root, 'src/cli/etl.mjs'), ...args], {
    cwd: files.directory,
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      REDIS_URL: '',
      NODE_OPTIONS: '--import ./otel.mjs',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/${name}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.pipe(process.stderr);
  children.push(child);
  return child;
};
const ended = async (child: ChildProcess): Promise<number | null> => {
  child.stdout?.resume();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};
/** Waits for a line of a worker's log; later lines are dropped. */
const said = async (child: ChildProcess, message: string): Promise<void> => {
  let seen = '';
  for await (const piece of child.stdout!.iterator({ destroyOnReturn: false })) {
    seen += String(piece);
    if (seen.includes(message)) break;
  }
  child.stdout!.resume();
};
beforeAll(async () => {
  writeNoaaFiles(files.directory, 60_000, 4);
  mkdirSync(join(files.directory, 'pipelines'));
  cpSync('pipelines', join(files.directory, 'pipelines'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(files.directory, 'node_modules'));
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
beforeEach(() => {
  const page = readProjectFile('docs/operations/tracing.md');
  files.write('otel.mjs', /```js\n(\/\/ otel\.mjs\n[^]*?)```/.exec(page)![1]!);
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null) child.kill('SIGKILL');
    await ended(child);
  }
  spans = [];
  // No case finds a published run of another.
  await database.query('drop schema if exists etl, etl_queue, etl_staging, noaa cascade');
});
afterAll(() => {
  receiver.close();
  receiver.closeAllConnections();
});

it('one trace goes from a process that enqueues, over one that coordinates, to one that helps', async () => {
  const work = [
    'worker',
    '--tracing',
    '--pipelines',
    'pipelines',
    '--workers',
    '1',
    '--chunk-bytes',
    '200000',
  ];
  const first = etl('first', ...work);
  await said(first, 'worker ready');
  const waiting = async (): Promise<number> =>
    (
      await database.query(
        `select count(*)::int as waiting from pg_locks where relation = 'etl.chunk'::regclass and not granted`,
      )
    ).rows[0]?.['waiting'];
  let second: ChildProcess | undefined;
  await withClient(addressFromUrl(database.url), (client) =>
    withTransaction(client, async () => {
      // Nobody commits a chunk before both have one in hand.
      await client.query('lock table etl.chunk in exclusive mode');
      expect(await ended(etl('asker', 'enqueue', 'pipelines/noaa.ts', '--tracing'))).toBe(0);
      await until(async () => (await waiting()) === 1);
      second = etl('second', ...work);
      second.stdout?.resume();
      await until(async () => (await waiting()) === 2);
    }),
  );
  const published = async (): Promise<boolean> =>
    (await database.query(`select exists (select from etl.run where state = 'published') as yes`)).rows[0]?.[
      'yes'
    ];
  await until(published);
  for (const worker of [first, second!]) {
    worker.kill('SIGTERM');
    expect(await ended(worker)).toBe(0);
  }
  expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1);
  expect(paths(spans)).toEqual(
    [
      'enqueue noaa',
      'enqueue noaa > job noaa',
      ...['', ' > plan', ' > load', ' > load > chunk observation', ' > load > chunk station']
        .concat([
          ' > build',
          ' > build > build daily',
          ' > build > build observation',
          ' > build > build station',
          ' > publish',
        ])
        .map((path) => `enqueue noaa > job noaa > run noaa${path}`),
    ].toSorted(),
  );
  const from = (name: string): readonly string[] =>
    [...new Set(spans.filter((span) => span.name === name).map((span) => span.from))].toSorted();
  expect({
    enqueue: from('enqueue noaa'),
    publish: from('publish'),
    chunk: from('chunk observation'),
  }).toEqual({
    enqueue: ['asker'],
    publish: ['first'],
    chunk: ['first', 'second'],
  });
  expect(sumOf(spans, 'chunk observation', 'sluice.records')).toBe(60_000);
});

it('a command without --tracing sends no span', async () => {
  expect(await ended(etl('quiet', 'run', 'pipelines/noaa.ts', '--quiet', '--full-refresh'))).toBe(0);
  expect(spans).toEqual([]);
});

it('a traced command without an SDK says so, and works', async () => {
  files.write('otel.mjs', '');
  const child = etl('deaf', 'run', 'pipelines/noaa.ts', '--tracing', '--quiet');
  const [exit, err] = await Promise.all([ended(child), text(child.stderr!)]);
  expect({ exit, err }).toEqual({
    exit: 0,
    err: expect.stringContaining('no OpenTelemetry SDK is registered'),
  });
  expect(spans).toEqual([]);
});
