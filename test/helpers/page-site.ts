// A database in which everything has happened that the page shows, made by real runs, and the page on a port of its own.

import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll } from 'vitest';
import {
  createPage,
  createWorker,
  enqueue,
  loadPipelineFile,
  runPipeline,
  schedule,
  type PageOptions,
} from '../../src/index.ts';
import { servePage } from '../../src/page/serve.ts';
import { editPipeline, writeFaultFiles } from './fault-files.ts';
import type { TestFiles } from './files.ts';
import { until } from './workers.ts';

/** Text that would do harm if it were sent as anything but text; also in names of files. */
export const hostileText = `"><script>alert(1)</script><img src=x onerror=alert(2)>\u202etxt.exe`;

export const hostileFile = `b '"><img src=x onerror=alert(3)>.csv`;

const wordsText = `
  import { column, csv, definePipeline, expect } from 'sluice';
  export default definePipeline({
    name: 'words',
    schema: 'words',
    tables: {
      word: {
        source: csv(['words/*.csv', { path: 'words/more/*.csv', delimiter: ';', comment: '<script>alert(4)</script>' }]),
        columns: { n: column.integer('n'), word: column.text('word'), day: column.date('day') },
        rejectLimit: 50,
        tests: [expect.between('n', 0, 30, { severity: 'warn' }), expect.unique('n')],
      },
    },
  });`;

const lines = (count: number, broken: (n: number) => boolean): string =>
  Array.from({ length: count }, (_, n) =>
    broken(n) ? `${n},${hostileText.replaceAll('"', "'")} ${n},31.02.2026` : `${n},word ${n},2026-01-01`,
  ).join('\n');

export interface PageSite {
  readonly databaseUrl: string;
  /** The run of NOAA's files in many chunks. */
  readonly largeRun: number;
  /** A published run with rejects and data tests that warned, which was traced. */
  readonly rejectsRun: number;
  readonly failedRun: number;
}

/**
 * Runs pipelines until the page has something to say everywhere: published and failed runs, rejects of several kinds, data tests,
 * schedules with slots, one of them paused, a run that waits on the queue.
 */
export const fillSite = async (databaseUrl: string, { directory, write }: TestFiles): Promise<PageSite> => {
  writeFaultFiles(directory, 20_000, 3);
  for (const name of ['noaa-nightly', 'noaa-sql']) rmSync(join(directory, 'pipelines', `${name}.ts`));
  // The page shows the throughput of runs that last two seconds or longer.
  const slow = 'hooks: { before: () => new Promise((resolve) => setTimeout(resolve, 2_000)) }';
  editPipeline(directory, "schema: 'noaa',", `schema: 'noaa', ${slow},`);
  write('pipelines/words.ts', wordsText);
  write('words/a.csv', `n,word,day\n${lines(40, (n) => n % 9 === 4)}\n`);
  write('words/more/none.csv', 'n;word;day\n');
  const place = { databaseUrl, redis: false } as const;
  const here = { ...place, directory: join(directory, 'pipelines'), workingDirectory: directory };
  const load = (name: string) => loadPipelineFile(join(directory, `pipelines/${name}.ts`));
  const { pipeline: noaa } = await load('noaa');
  const { pipeline: words } = await load('words');

  const large = await runPipeline(noaa, { ...here, workers: 2, chunkBytes: 64 * 1024, profile: true });
  const tracer = new NodeTracerProvider().getTracer('site');
  const rejects = await runPipeline(words, { ...here, workers: 1, tracer });
  // Over its limit; then put right.
  const bad = write(`words/${hostileFile}`, `n,word,day\n${lines(60, () => true)}\n`);
  await runPipeline(words, { ...here, workers: 1 }).catch(() => undefined);
  writeFileSync(bad, `n,word,day\n100,last,2026-01-01\nx,"${'long '.repeat(200)}",2026-01-01\n`);
  utimesSync(bad, 1, 1);

  await schedule.set('words-nightly', words, { ...here, cron: '0 3 * * *', timeZone: 'Europe/Berlin' });
  await schedule.set('noaa-weekly', noaa, { ...here, cron: '0 4 * * 1' });
  await schedule.pause('noaa-weekly', place);
  const { job } = await schedule.runNow('words-nightly', place);
  const worker = await createWorker({ ...here, pipelines: join(directory, 'pipelines'), workers: 1 });
  const slots = () => schedule.history('words-nightly', place);
  await until(async () => (await slots()).some((slot) => slot.job === job && slot.state === 'published'));
  await worker.close();
  await enqueue(noaa, here);
  return { databaseUrl, largeRun: large.runId, rejectsRun: rejects.runId, failedRun: rejects.runId + 1 };
};

export interface ServedPage {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** What `etl ui` prints. */
  readonly address: string;
  readonly token: string;
  readonly close: () => Promise<void>;
}

/** Serves the page as `etl ui` does. */
export const serveSite = async (databaseUrl: string, options: PageOptions = {}): Promise<ServedPage> => {
  const page = createPage({ databaseUrl, redis: false, ...options });
  const server = await servePage(page, { port: 0, host: '127.0.0.1' });
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    address: `${origin}/?token=${page.token}`,
    token: String(page.token),
    close: async () => {
      await page.close();
      await server.close();
    },
  };
};

/** The page for the tests of a file. */
export const usePage = (databaseUrl: () => string, options: PageOptions = {}): (() => ServedPage) => {
  let served: ServedPage | undefined;
  beforeAll(async () => {
    served = await serveSite(databaseUrl(), options);
  });
  afterAll(() => served?.close());
  return () => served!;
};
