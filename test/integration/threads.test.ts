// Loading threads: when there are any, functions get there by their file, errors come back whole, and a thread that dies ends
// the run.

import diagnostics from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, joinRun, loadPipelineFile, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { runWhile } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';

const files = useFiles();
const database = useDatabase();
const data = files.write('data.csv', 'n,word\n1,a\n2,b\n3,c\n');

/** Writes a pipeline whose column `word` is mapped by this function. */
const writePipeline = (name: string, map: string): string =>
  files.write(
    `${name}.ts`,
    `import { isMainThread } from 'node:worker_threads';
import { column, csv, definePipeline } from 'sluice';

void isMainThread;
export default definePipeline({
  name: '${name}',
  schema: '${name}',
  tables: {
    words: {
      source: csv(${JSON.stringify(data)}),
      columns: {
        n: column.integer('n'),
        word: column.text('word').map(${map}),
      },
    },
  },
});
`,
  );

const run = async (path: string, inThreads: boolean) => {
  const { pipeline, directory, file } = await loadPipelineFile(path);
  const options = { databaseUrl: database.url, directory, workers: 2 };
  return runPipeline(pipeline, inThreads ? { ...options, pipelineFile: file } : options);
};

const wordsOf = async (schema: string): Promise<unknown[]> =>
  (await database.query(`select word from ${schema}.words order by n`)).rows.map(({ word }) => word);

const whichThread = "(text) => `${text} ${isMainThread ? 'main' : 'thread'}`";

/** How many threads start while a pipeline of one column loads files of so many bytes. */
const threadsOf = async (name: string, ...sizes: readonly number[]): Promise<number> => {
  const paths = sizes.map((bytes, place) =>
    files.write(`${name}-${place}.csv`, `n\n${'1234567\n'.repeat(bytes / 8)}`),
  );
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: { numbers: { source: csv(paths), columns: { n: column.integer('n') }, copies: 'load' } },
  });
  let started = 0;
  const count = (): void => void (started += 1);
  diagnostics.subscribe('worker_threads', count);
  try {
    await runPipeline(pipeline, { databaseUrl: database.url, workers: 2 });
  } finally {
    diagnostics.unsubscribe('worker_threads', count);
  }
  const rows = sizes.reduce((sum, bytes) => sum + bytes / 8, 0);
  const found = await database.query(`select count(*)::int as rows from ${name}.numbers where n = 1234567`);
  expect(found.rows).toEqual([{ rows }]);
  return started;
};

describe('threads', () => {
  const half = 2 * 1024 * 1024;

  it('do not start for so little that they would take longer', async () => {
    expect(await threadsOf('little', half, half)).toBe(0);
  });

  it('of other processes, which join a run that its coordinator loads alone, are refused before the first queue', async () => {
    const joined = definePipeline({
      name: 'joined',
      schema: 'joined',
      tables: { words: { source: csv(data), columns: { n: column.integer('n') } } },
    });
    let refusal: unknown;
    const joinIt = async (): Promise<void> => {
      refusal = await failureOf(joinRun(joined, { databaseUrl: database.url }));
    };
    const end = ({ kind }: Effect): boolean => kind === 'copy done';
    await runWhile(database.url, end, joinIt, (databaseUrl) => runPipeline(joined, { databaseUrl }));
    expect(refusal).toMatchObject({
      code: 'ETL_JOIN_REFUSED',
      message: expect.stringContaining('is loaded by its coordinator alone'),
    });
  });

  it('are as many as have work, and only what others could share is put on a queue', async () => {
    const queue = `select to_regnamespace('etl_queue') is not null as "isThere"`;
    expect(await threadsOf('one_file', 2 * half + 8)).toBe(1);
    expect((await database.query(queue)).rows).toEqual([{ isThere: false }]);
    expect(await threadsOf('enough', half, half + 8)).toBe(2);
    expect((await database.query(queue)).rows).toEqual([{ isThere: true }]);
  });
});

describe('functions of a definition', () => {
  it('run in threads of the loaders when their file is known', async () => {
    await run(writePipeline('in_thread', whichThread), true);
    expect(await wordsOf('in_thread')).toEqual(['a thread', 'b thread', 'c thread']);
  });

  it("run in the caller's thread when it is not", async () => {
    await run(writePipeline('in_main', whichThread), false);
    expect(await wordsOf('in_main')).toEqual(['a main', 'b main', 'c main']);
  });

  it('what one throws comes back with its place and its cause', async () => {
    const path = writePipeline(
      'throws',
      "(text) => { if (text === 'b') throw new RangeError('no b'); return text; }",
    );
    const error = await failureOf(run(path, true));
    expect(error).toMatchObject({ code: 'ETL_USER_FUNCTION', details: { table: 'words' } });
    expect(error.message).toMatch(/data\.csv:3/);
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'no b' });
    expect((error.cause as Error).stack).toMatch(/throws\.ts/);
  });

  it('are those of the definition that the run began with, or the run stops', async () => {
    const path = writePipeline('changing', '(text) => text');
    const { pipeline, directory, file } = await loadPipelineFile(path);
    writePipeline('changing', '(text) => text + text');
    const options = { databaseUrl: database.url, directory, pipelineFile: file };
    expect(await failureOf(runPipeline(pipeline, options))).toMatchObject({ code: 'ETL_JOIN_REFUSED' });
    expect((await database.query(`select to_regclass('changing.words') as found`)).rows).toEqual([
      { found: null },
    ]);
  });
});

describe('a thread that ends by itself', () => {
  it('stops the run: process.exit in a function', async () => {
    const error = await failureOf(run(writePipeline('exits', '() => process.exit(3)'), true));
    expect(error).toMatchObject({ code: 'ETL_THREAD_ENDED' });
  });

  it('stops the run: an error that nobody catches', async () => {
    const later = "(text) => { setImmediate(() => { throw new TypeError('uncaught'); }); return text; }";
    const error = await failureOf(run(writePipeline('uncaught', later), true));
    expect(error).toMatchObject({ code: 'ETL_THREAD_ENDED', cause: { message: 'uncaught' } });
  });
});

describe("the caller's own code", () => {
  const writePlain = (name: string): string => writePipeline(name, '(text) => text');

  it('an onEvent that throws rejects the run, and the process lives', async () => {
    const { pipeline, directory, file } = await loadPipelineFile(writePlain('listener'));
    const onEvent = ({ type }: { type: string }): void => {
      if (type === 'progress') throw new RangeError('a listener of the host');
    };
    const options = { databaseUrl: database.url, directory, pipelineFile: file, onEvent };
    await expect(runPipeline(pipeline, options)).rejects.toMatchObject({
      cause: { message: 'a listener of the host' },
    });
  });

  it('a function that never returns does not outlive an abort', async () => {
    const entered = join(files.directory, 'entered');
    const enter = `process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(entered)}, '')`;
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
    const path = writePipeline('endless', `(text) => { ${enter}; ${wait}; return text; }`);
    const { pipeline, directory, file } = await loadPipelineFile(path);
    const [drain, abort] = [new AbortController(), new AbortController()];
    const signals = { drain: drain.signal, signal: abort.signal };
    const options = { databaseUrl: database.url, directory, pipelineFile: file, ...signals };
    const running = failureOf(runPipeline(pipeline, options));
    await until(() => existsSync(entered));
    drain.abort(new Error('drained'));
    // A drain waits for the chunk in hand.
    await sleep(100);
    abort.abort(new Error('aborted'));
    expect(await running).toMatchObject({ code: 'ETL_INTERRUPTED' });
  });
});
