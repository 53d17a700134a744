// Spans of runs by a real SDK: one trace from the enqueuing process to the publication, with all helpers; errors by code.

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  definePipeline,
  column,
  csv,
  enqueue,
  loadPipelineFile,
  runPipeline,
  schedule,
  type Tracer,
} from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient, withTransaction } from '../../src/db/client.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { traceRun } from '../../src/report/run-trace.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { paths, sumOf, type FlatSpan } from '../helpers/trace-tree.ts';
import { queueKinds, until, usePlace, useWorkers } from '../helpers/workers.ts';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = (name: string): Tracer => provider.getTracer(name);

const flat = (span: ReadableSpan): FlatSpan => ({
  name: span.name,
  trace: span.spanContext().traceId,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId,
  from: span.instrumentationScope.name,
  attributes: span.attributes,
  failed: span.status.code === SpanStatusCode.ERROR ? span.status.message : undefined,
});
/** Seconds and nanoseconds. */
const isBackward = ({ duration: [seconds, nanoseconds] }: ReadableSpan): boolean =>
  seconds < 0 || nanoseconds < 0;
const finished = (): readonly FlatSpan[] => exporter.getFinishedSpans().map(flat);
const named = (name: string): FlatSpan | undefined => finished().find((span) => span.name === name);
const database = useDatabase();
const files = useFiles();
const folder = join(files.directory, 'pipelines');

beforeAll(() => {
  writeNoaaFiles(files.directory, 20_000, 4);
  // Each worker reads all pipelines of the folder when it starts.
  for (const name of ['noaa.ts', 'noaa'])
    cpSync(join('pipelines', name), join(folder, name), { recursive: true });
});
afterEach(() => exporter.reset());
afterAll(() => provider.shutdown());

/** What a run of the example looks like, below whatever began it. */
const runPaths = (above: string): readonly string[] =>
  [
    '',
    ' > plan',
    ' > load',
    ' > load > chunk observation',
    ' > load > chunk station',
    ' > build',
    ' > build > build daily',
    ' > build > build observation',
    ' > build > build station',
    ' > publish',
  ].map((path) => `${above}run noaa${path}`);

describe.each(queueKinds)('queues in $kind', ({ kind }) => {
  const queues = usePlace(kind, database);
  const place = (name: string) => ({ ...queues.place(), tracer: tracer(name) });
  const workers = useWorkers(() => ({
    ...queues.place(),
    pipelines: folder,
    workingDirectory: files.directory,
    workers: 2,
    chunkBytes: 200_000,
  }));
  const start = (name: string) => workers.start({ tracer: tracer(name) });
  const noaa = () => loadPipelineFile(join(folder, 'noaa.ts'));

  it('one trace leads from enqueue to publish, with the chunks of a worker that helps', async () => {
    await start('one');
    const { pipeline, directory } = await noaa();
    const waiting = async (): Promise<number> =>
      (
        await database.query(
          `select count(*)::int as waiting from pg_locks where relation = 'etl.chunk'::regclass and not granted`,
        )
      ).rows[0]?.['waiting'];
    await withClient(addressFromUrl(database.url), (client) =>
      withTransaction(client, async () => {
        // Nobody commits a chunk before both have some in hand.
        await client.query('lock table etl.chunk in exclusive mode');
        await enqueue(pipeline, { ...place('asker'), directory, fullRefresh: true });
        await until(async () => (await waiting()) === 2);
        await start('two');
        await until(async () => (await waiting()) > 2);
      }),
    );
    await until(() => named('job noaa') !== undefined);
    const spans = finished();
    expect(new Set(spans.map((span) => span.trace)).size).toBe(1);
    const above = 'enqueue noaa > job noaa > ';
    expect(paths(spans)).toEqual(['enqueue noaa', 'enqueue noaa > job noaa', ...runPaths(above)].toSorted());
    const chunks = spans.filter(({ name }) => name === 'chunk observation');
    expect(new Set(chunks.map(({ from }) => from))).toEqual(new Set(['one', 'two']));
    expect(sumOf(spans, 'chunk observation', 'sluice.records')).toBe(20_000);
    const run = named('run noaa')!.attributes;
    expect(run).toMatchObject({ 'sluice.outcome': 'published', 'sluice.rejects': 0 });
    expect(new Set(chunks.map(({ attributes }) => attributes['sluice.run.id']))).toEqual(
      new Set([run['sluice.run.id']]),
    );
    expect(chunks[0]?.attributes['sluice.file']).toMatch(/^data\/noaa\/\d+hourly\.txt$/);
    const { 'messaging.message.id': sent, ...sending } = named('enqueue noaa')!.attributes;
    expect(named('job noaa')?.attributes['messaging.message.id']).toBe(sent);
    expect(sending).toEqual({
      'messaging.system': 'bullmq',
      'messaging.destination.name': 'etl-run',
      'messaging.operation.type': 'send',
      'sluice.pipeline': 'noaa',
    });
    expect(spans.filter(({ failed }) => failed !== undefined)).toEqual([]);
    expect(exporter.getFinishedSpans().filter(isBackward)).toEqual([]);
  });

  it('a job that cannot be done fails its span with the code, and no other', async () => {
    const unknown = definePipeline({
      name: 'unknown',
      schema: 'unknown',
      tables: { t: { source: csv('t.csv'), columns: { a: column.text('a') } } },
    });
    await enqueue(unknown, place('asker'));
    await start('one');
    await until(() => named('job unknown') !== undefined);
    expect(named('job unknown')?.failed).toBe('ETL_PIPELINE_UNKNOWN');
    expect(paths(finished())).toEqual(['enqueue unknown', 'enqueue unknown > job unknown']);
    expect(named('enqueue unknown')?.failed).toBeUndefined();
  });

  it('a run of a schedule is one trace, too', async () => {
    const { pipeline, directory } = await noaa();
    const own = place('asker');
    await schedule.set('nightly', pipeline, { ...own, cron: '0 0 1 1 *', directory });
    await schedule.runNow('nightly', own);
    await start('one');
    await until(() => named('job noaa') !== undefined);
    expect(paths(finished())).toContain('enqueue noaa > job noaa > run noaa');
    await schedule.remove('nightly', own);
  });
});

describe('a run of a program of one’s own', () => {
  const options = () => ({ databaseUrl: database.url, redis: false as const, tracer: tracer('program') });

  const words = (name: string, more = {}) =>
    definePipeline({
      name,
      schema: name,
      tables: {
        word: {
          source: csv(join(files.directory, `${name}.csv`)),
          columns: { n: column.integer('n') },
          ...more,
        },
      },
    });

  it('a tracer that is not registered makes no trace, and the run works', async () => {
    writeFileSync(join(files.directory, 'silent.csv'), 'n\n1\n');
    const silent = { ...options(), tracer: trace.getTracer('nobody') };
    expect((await runPipeline(words('silent'), silent)).outcome).toBe('published');
    expect(finished()).toEqual([]);
  });

  it('is a child of the program’s current span', async () => {
    provider.register();
    writeFileSync(join(files.directory, 'inner.csv'), 'n\n1\n2\n');
    const request = provider.getTracer('program').startSpan('request');
    await context.with(trace.setSpan(context.active(), request), () =>
      runPipeline(words('inner'), options()),
    );
    request.end();
    expect(paths(finished())).toEqual([
      'request',
      'request > run inner',
      'request > run inner > build',
      'request > run inner > build > build word',
      'request > run inner > load',
      'request > run inner > load > chunk word',
      'request > run inner > plan',
      'request > run inner > publish',
    ]);
    trace.disable();
    context.disable();
  });

  it('whose server is lost fails the step that it is in, which begins again', () => {
    const { hear, end } = traceRun(tracer('own'), 'lost', undefined);
    hear({ type: 'step', step: 'load' });
    hear({ type: 'waiting', problem: 'gone', waitMs: 1 });
    hear({ type: 'step', step: 'load' });
    end();
    expect(finished().map(({ name, failed }) => [name, failed])).toEqual([
      ['load', 'ETL_SERVER_LOST'],
      ['load', undefined],
      ['run lost', undefined],
    ]);
  });

  const throwing = (): never => {
    throw new Error('a tracer of no use');
  };
  it.each([
    { name: 'throws', broken: { startSpan: throwing } },
    { name: 'gives_spans_that_throw', broken: { startSpan: () => new Proxy({}, { get: () => throwing }) } },
  ])('a tracer that $name costs spans and nothing else', async ({ name, broken }) => {
    writeFileSync(join(files.directory, `${name}.csv`), 'n\n1\n');
    const { outcome } = await runPipeline(words(name), { ...options(), tracer: broken });
    expect(outcome).toBe('published');
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('that fails says where: the step, the chunk or the table, and the code', async () => {
    writeFileSync(join(files.directory, 'twice.csv'), 'n\n1\n1\n');
    const failure = await failureOf(runPipeline(words('twice', { primaryKey: ['n'] }), options()));
    expect(failure.code).toBe('ETL_DUPLICATE_KEY');
    const failed = finished().filter((span) => span.failed !== undefined);
    expect(failed.map(({ name, failed: code }) => `${name}: ${code}`)).toEqual([
      'build word: ETL_DUPLICATE_KEY',
      'build: ETL_DUPLICATE_KEY',
      'run twice: ETL_DUPLICATE_KEY',
    ]);
    expect(failed.every(({ attributes }) => attributes['error.type'] === 'ETL_DUPLICATE_KEY')).toBe(true);
  });

  it('that is refused for its records reports how many, and never their text', async () => {
    writeFileSync(join(files.directory, 'bad.csv'), 'n\nsesame\n1\n');
    await failureOf(runPipeline(words('bad'), options()));
    expect(named('run bad')?.failed).toBe('ETL_REJECT_LIMIT');
    expect(named('chunk word')?.attributes).toMatchObject({ 'sluice.records': 2, 'sluice.rejects': 1 });
    const all = JSON.stringify(
      exporter.getFinishedSpans().map(({ attributes, events, status }) => [attributes, events, status]),
    );
    expect(all).toContain('ETL_REJECT_LIMIT');
    expect(all).not.toContain('sesame');
    expect(all).not.toContain(new URL(database.url).username);
  });
});
