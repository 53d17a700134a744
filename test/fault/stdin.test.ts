// What is piped into `etl run`: loaded as a file is, by every worker, and given again after a kill.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { enqueue, joinRun, loadPipelineFile, type RunEvent } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();

const pipelineFile = files.write(
  'piped.ts',
  `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'piped',
  schema: 'piped',
  tables: { t: { source: csv('-'), columns: { id: column.integer('id') }, rejectLimit: 10 } },
});
`,
);

const text = `id\n${Array.from({ length: 30_000 }, (_, n) => `${n % 10_000 === 7 ? 'x' : n}\n`).join('')}`;

interface Piped {
  readonly exit: number | null;
  readonly events: readonly (RunEvent & { readonly code?: string; readonly message?: string })[];
  readonly err: string;
}

const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:PG|ETL_)/.test(name))),
  TMPDIR: files.directory,
};

/** Runs `etl` in the directory of the files, with these bytes piped into it. */
const pipe = async (
  input: string | Buffer | undefined,
  args: readonly string[],
  watch: (child: ChildProcess, out: string) => void = () => undefined,
): Promise<Piped> => {
  const child = spawn(process.execPath, etlArgs(args), {
    cwd: files.directory,
    env: { ...environment, DATABASE_URL: database.url },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
    watch(child, out);
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece));
  const [exit] = (await once(child, 'close')) as [number | null];
  const lines = out.split('\n').filter((line) => line.endsWith('}'));
  return { exit, events: lines.map((line) => JSON.parse(line)), err };
};

const run = (input: string | Buffer | undefined, watch?: Parameters<typeof pipe>[2]): Promise<Piped> =>
  pipe(input, ['run', pipelineFile, '--json', '--workers', '1', '--chunk-bytes', '5000'], watch);

const rows = async (): Promise<unknown> =>
  (await database.query('select count(*)::int as n, sum(id)::float8 as sum from piped.t')).rows[0];

const sum = Array.from({ length: 30_000 }, (_, n) => (n % 10_000 === 7 ? 0 : n)).reduce(
  (one, other) => one + other,
  0,
);

describe('standard input', () => {
  it('is loaded after a kill when it is given again: what is there stays', async () => {
    const killed = await run(text, (child, out) => {
      if (/"type":"progress".*"records":[1-9]\d{4}/.test(out)) child.kill('SIGKILL');
    });
    expect(killed.exit).toBe(null);
    // Beside the cache of compiled pipeline files, which stays for the next run.
    const left = readdirSync(files.directory).filter((name) => !name.startsWith('sluice-transpiled'));
    expect(left).toEqual(['piped.ts']);
    const given = await run(text);
    expect(given).toMatchObject({ exit: 0, err: '' });
    const resumed = given.events.find((event) => event.type === 'resumed');
    expect(resumed?.type === 'resumed' && resumed.records).toBeGreaterThan(0);
    expect(await rows()).toEqual({ n: 29_997, sum });
    const { rows: lines } = await database.query('select line::int from etl.reject order by line');
    expect(lines.map(({ line }) => line)).toEqual([9, 10_009, 20_009]);
  });

  it('is known by its content: the same does nothing, in gzip it is loaded', async () => {
    expect((await run(text)).events.at(-1)).toMatchObject({
      type: 'finished',
      result: { outcome: 'unchanged' },
    });
    const zipped = await run(gzipSync(text));
    expect(zipped.events.at(-1)).toMatchObject({ type: 'finished', result: { outcome: 'published' } });
    expect(await rows()).toEqual({ n: 29_997, sum });
  });

  it('that does not end is not waited for after Ctrl-C', async () => {
    let isAsked = false;
    const { exit, events } = await run(undefined, (child, out) => {
      if (isAsked || !out.includes('"step":"plan"')) return;
      isAsked = true;
      child.kill('SIGINT');
    });
    expect(exit).toBe(130);
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'ETL_INTERRUPTED' });
  });

  it('is refused by a queue', async () => {
    const { pipeline } = await loadPipelineFile(pipelineFile);
    expect(await failureOf(enqueue(pipeline, { databaseUrl: database.url }))).toMatchObject({
      code: 'ETL_STDIN_QUEUE',
      details: { pipeline: 'piped', table: 't' },
    });
    const joined = failureOf(joinRun(pipeline, { databaseUrl: database.url }));
    expect(await joined).toMatchObject({ code: 'ETL_STDIN_QUEUE' });
  });

  it('that is a terminal says what to do', async () => {
    const command = [process.execPath, ...etlArgs(['run', pipelineFile])];
    const child = spawn('script', ['-qec', `'${command.join("' '")}'`, '/dev/null'], {
      cwd: files.directory,
      env: { ...environment, DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
    expect((await once(child, 'close'))[0]).toBe(2);
    expect(out).toContain('ETL_STDIN_TERMINAL');
    // Errors are wrapped on a terminal.
    expect(out.replaceAll(/\s+/g, ' ')).toContain('pipe the same data again');
  });
});
