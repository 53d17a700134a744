// A program that embeds the library, does one thing after another with it, and writes down what each left in the process.
//
//   library-host.ts <report-file> <scene> …     in a directory with words.csv, bad.csv and packed/*.csv.gz; DATABASE_URL names the server

import { writeFileSync } from 'node:fs';
import {
  column,
  csv,
  definePipeline,
  EtlError,
  joinRun,
  runPipeline,
  type RunEvent,
  type RunOptions,
} from 'sluice';

const [, , , reportFile = '', ...chosen] = process.argv;
const databaseUrl = process.env['DATABASE_URL']!;

const pipelineOf = (name: string, file = 'words.csv') =>
  definePipeline({
    name,
    schema: name,
    tables: { words: { source: csv(file), columns: { n: column.integer('n'), word: column.text('word') } } },
  });

const run = async (name: string, options: RunOptions = {}, file?: string): Promise<string> =>
  (await runPipeline(pipelineOf(name, file), { databaseUrl, workers: 2, ...options })).outcome;

const stopping = (how: 'signal' | 'drain'): RunOptions => {
  const controller = new AbortController();
  return {
    [how]: controller.signal,
    onEvent: (event) => {
      if (event.type === 'step' && event.step === 'load') controller.abort(new Error('the host stops'));
    },
  };
};

const wrongPassword = (): RunOptions => {
  const { hostname, port, pathname, username } = new URL(databaseUrl);
  const connection = { host: hostname, port: Number(port), database: pathname.slice(1), user: username };
  return { databaseUrl: undefined, connection: { ...connection, password: 'guess' } };
};

const failLater = ({ type }: RunEvent): unknown =>
  type === 'planned' ? Promise.reject(new Error('later')) : undefined;

const scenes: Readonly<Record<string, () => Promise<unknown>>> = {
  publishes: () => run('publishes'),
  'has nothing to do': async () => [await run('twice'), await run('twice')],
  'gathers a profile': () => run('profiled', { profile: true }),
  'is over its reject limit': () => run('rejects', {}, 'bad.csv'),
  'is aborted': () => run('aborted', stopping('signal')),
  'is drained': () => run('drained', stopping('drain')),
  'has a listener that fails later': () => run('listener', { onEvent: failLater }),
  'has a listener that throws': () =>
    run('listener', {
      onEvent: () => {
        throw new Error('not now');
      },
    }),
  'finds no server': () => run('nowhere', { databaseUrl: 'postgres://me:sesame@127.0.0.1:1/db', waitMs: 0 }),
  'is refused by the server': () => run('refused', wrongPassword()),
  'is given a wrong option': () => run('misspelt', { wrokers: 2 } as RunOptions),
  'loads many streams at once': () => run('streams', { workers: 4, chunkBytes: 1000 }, 'packed/*.csv.gz'),
  'runs beside two others': () => Promise.all(['one', 'two', 'three'].map((name) => run(name))),
  'joins a run that is not there': () => joinRun(pipelineOf('publishes'), { databaseUrl }),
};

/** What a library must leave as it found it. */
const traces = () => ({
  listeners: Object.fromEntries(
    [
      'SIGINT',
      'SIGTERM',
      'SIGHUP',
      'exit',
      'beforeExit',
      'uncaughtException',
      'unhandledRejection',
      'warning',
    ].map((event) => [event, process.listenerCount(event)]),
  ),
  title: process.title,
  directory: process.cwd(),
  exitCode: process.exitCode ?? null,
  environment: Object.keys(process.env).length,
});

const reports: object[] = [];
for (const scene of chosen) {
  const before = traces();
  const outcome = await scenes[scene]!().catch((error: unknown) =>
    error instanceof EtlError ? error.code : `not ours: ${String(error)}`,
  );
  reports.push({ scene, outcome, before, after: traces() });
}
writeFileSync(reportFile, JSON.stringify(reports));
