// A password, or a parameter that is a secret, appears nowhere: not in logs, errors, events, output, bookkeeping, queue or session names.

import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, runPipeline, type Logger, type RunOptions } from '../../src/index.ts';
import { z } from 'zod';
import { useFiles } from '../helpers/files.ts';
import { ask } from '../helpers/own-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const secret = `sesame-${randomUUID()}`;
const role = `sluice_${randomUUID().replaceAll('-', '')}`;
const files = useFiles();
const database = useDatabase();
files.write('words.csv', 'n,word\n1,a\n2,b\n');
files.write('bad.csv', 'n,word\nx,a\n');

beforeAll(async () => {
  await ask(inject('serverUrl'), `create role ${role} superuser login password '${secret}'`);
});
afterAll(async () => {
  await database.query(`reassign owned by ${role} to current_user; drop owned by ${role}`);
  await ask(inject('serverUrl'), `drop role ${role}`);
});

/** The database as this role, with changes that make it fail. */
const urlWith = (change: (url: URL) => void = () => undefined): string => {
  const url = new URL(database.url);
  url.username = role;
  url.password = secret;
  change(url);
  return url.href;
};

/** Everything a host may print of a value: as text, as JSON, as the console shows it, and its stack. */
const shown = (value: unknown): string =>
  [
    String(value),
    JSON.stringify(value, (_, part: unknown) =>
      part instanceof Error ? { ...part, message: part.message } : part,
    ),
    inspect(value, { depth: 20, breakLength: Infinity }),
    value instanceof Error ? value.stack : '',
  ].join('\n');

const pipelineOf = (file: string) =>
  definePipeline({
    name: 'secret',
    schema: 'secret',
    params: z.object({ token: z.string().meta({ secret: true }) }),
    tables: () => ({
      words: { source: csv(file), columns: { n: column.integer('n'), word: column.text('word') } },
    }),
  });

/** Runs, and gives all that was said on the way. */
const everythingOf = async (options: RunOptions, file = 'words.csv'): Promise<string> => {
  const said: string[] = [];
  const hear = (fields: object, message: string): void => void said.push(shown(fields), message);
  const logger: Logger = { debug: hear, info: hear, warn: hear, error: hear };
  const outcome = await runPipeline(pipelineOf(file), {
    workingDirectory: files.directory,
    workers: 2,
    // A parameter that is declared secret appears as little as the password.
    params: { token: secret },
    fullRefresh: true,
    profile: true,
    logger,
    onEvent: (event) => said.push(shown(event)),
    ...options,
  }).catch((error: unknown) => error);
  return [...said, shown(outcome)].join('\n');
};

/** Ends all sessions of the role but one's own: drivers then say what they know of their connections. */
const endSessions = () =>
  database.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);

interface Scene {
  readonly name: string;
  readonly options: () => RunOptions;
  readonly file?: string;
  readonly expected: string;
}

/** Without a URL, so it cannot be on the command line. */
const connectionScene: Scene = {
  name: 'a run by connection settings',
  options: () => {
    const { hostname, port, pathname } = new URL(database.url);
    const connection = { host: hostname, port: Number(port), database: pathname.slice(1), user: role };
    return { connection: { ...connection, password: secret } };
  },
  expected: 'published',
};

const scenes: readonly Scene[] = [
  { name: 'a run that publishes', options: () => ({ databaseUrl: urlWith() }), expected: 'published' },
  {
    name: 'a run whose sessions are ended under it',
    options: () => {
      let hasEnded = false;
      const onEvent: RunOptions['onEvent'] = ({ type }) => {
        if (type === 'progress' && !hasEnded) void endSessions();
        hasEnded ||= type === 'progress';
      };
      return { databaseUrl: urlWith(), onEvent };
    },
    expected: 'published',
  },
  {
    name: 'rejects',
    options: () => ({ databaseUrl: urlWith() }),
    file: 'bad.csv',
    expected: 'ETL_REJECT_LIMIT',
  },
  {
    name: 'a wrong password',
    options: () => ({ databaseUrl: urlWith((url) => (url.password = `${secret}-wrong`)) }),
    expected: 'ETL_CONNECT_AUTH',
  },
  {
    name: 'a database that is not there',
    options: () => ({ databaseUrl: urlWith((url) => (url.pathname = 'nowhere')) }),
    expected: 'ETL_CONNECT_DATABASE',
  },
  {
    name: 'a server that is not there',
    options: () => ({ databaseUrl: urlWith((url) => (url.port = '1')), waitMs: 0 }),
    expected: 'ETL_CONNECT',
  },
  {
    name: 'a server without TLS',
    options: () => ({ databaseUrl: urlWith((url) => (url.search = '?sslmode=require')), waitMs: 0 }),
    expected: 'ETL_CONNECT',
  },
  {
    name: 'a certificate that is not there',
    options: () => ({
      databaseUrl: urlWith((url) => (url.search = '?sslmode=verify-full&sslrootcert=/nowhere.crt')),
    }),
    expected: 'ETL_USAGE',
  },
  {
    name: 'a URL that is none',
    options: () => ({ databaseUrl: `postgres://me:${secret}@[nowhere/db` }),
    expected: 'ETL_USAGE',
  },
  {
    name: 'a URL of another kind',
    options: () => ({ databaseUrl: `mysql://me:${secret}@db/db` }),
    expected: 'ETL_USAGE',
  },
];

describe('the password does not appear in', () => {
  it.each([...scenes, connectionScene])('$name', async ({ options, file, expected }) => {
    const all = await everythingOf(options(), file);
    expect({ leaked: all.includes(secret), expected: all.includes(expected) }).toEqual({
      leaked: false,
      expected: true,
    });
  });

  it.each(scenes)(
    'the command line, $name, with --debug and --verbose',
    async ({ options, file = 'words.csv' }) => {
      const databaseUrl = options().databaseUrl!;
      const name = `${file.replace('.csv', '')}.ts`;
      files.write(
        name,
        `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'secret',
  schema: 'secret',
  tables: { words: { source: csv('${file}'), columns: { n: column.integer('n'), word: column.text('word') } } },
});
`,
      );
      const io = fakeIo({ workingDirectory: files.directory });
      const flags = [
        '--database-url',
        databaseUrl,
        '--debug',
        '--verbose',
        '--json',
        '--progress',
        'log',
        '--wait',
        '0s',
      ];
      await main(['run', `${files.directory}/${name}`, ...flags, '--full-refresh'], io);
      expect({
        said: io.stdout.text !== '',
        leaked: (io.stdout.text + io.stderr.text).includes(secret),
      }).toEqual({
        said: true,
        leaked: false,
      });
    },
  );
});

describe('the password is not kept in', () => {
  it('any table of the bookkeeping or the queue', async () => {
    expect(await everythingOf({ databaseUrl: urlWith() })).toContain('published');
    const { rows: tables } = await database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('etl', 'etl_queue')`,
    );
    const holding: string[] = [];
    for (const { name } of tables) {
      const { rows } = await database.query(`select 1 from ${name} t where t::text like $1 limit 1`, [
        `%${secret}%`,
      ]);
      if (rows.length > 0) holding.push(name);
    }
    expect({ looked: tables.length > 5, holding }).toEqual({ looked: true, holding: [] });
  });
});
