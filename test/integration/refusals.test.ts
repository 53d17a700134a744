// What stops a run before anything is loaded: each one clear error, or a correct empty result.

import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, runPipeline, sqlFile, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const { write, directory } = useFiles();
const database = useDatabase();

const pipeline = (
  path: string,
  columns = { id: column.integer('id'), name: column.text('name') },
): Pipeline =>
  definePipeline({ name: 'small', schema: 'small', tables: { t: { source: csv(path), columns } } });

const run = (path: string, databaseUrl = database.url) =>
  runPipeline(pipeline(path), { databaseUrl, workingDirectory: directory });

describe('source files', () => {
  it.each([
    {
      name: 'missing file',
      path: 'no.csv',
      code: 'ETL_SOURCE_NOT_FOUND',
      says: 'table t: no file matches no.csv',
    },
    {
      name: 'glob without match',
      path: '*.tsv',
      code: 'ETL_SOURCE_NOT_FOUND',
      says: 'no file matches *.tsv',
    },
    { name: 'empty file', content: '', code: 'ETL_SOURCE_EMPTY', says: 'is empty' },
    {
      name: 'header without a declared column',
      content: 'id,nmae\n1,a\n',
      code: 'ETL_HEADER_MISSING',
      says: ':1: the header has no "name"',
    },
    {
      name: 'duplicate header',
      content: 'id,name,id\n1,a,2\n',
      code: 'ETL_HEADER_DUPLICATE',
      says: 'the header names "id" twice (fields 1 and 3)',
    },
    {
      name: 'header with an open quote',
      content: 'id,"name\n1,a\n',
      code: 'ETL_HEADER_INVALID',
      says: 'never closed',
    },
  ])('$name', async ({ name, path, content, code, says }) => {
    if (content !== undefined) write(`${name}.csv`, content);
    const error = await failureOf(run(path ?? `${name}.csv`));
    expect(error).toMatchObject({ code, exit: 1 });
    expect(error.message).toContain(says);
    expect(error.hint).not.toBe('');
  });

  it('suggests the header that was meant', async () => {
    write('near.csv', 'id,nmae\n');
    expect((await failureOf(run('near.csv'))).hint).toContain('Did you mean "nmae"?');
  });

  it.each([
    { name: 'with newline', content: 'id,name\n' },
    { name: 'without newline', content: 'id,name' },
    { name: 'with byte order mark and CRLF', content: '\ufeffid,name\r\n' },
  ])('header only, $name: an empty table', async ({ name, content }) => {
    write(`${name}.csv`, content);
    const result = await run(`${name}.csv`);
    expect(result.tables).toMatchObject([{ records: 0, rows: 0, rejected: 0 }]);
    expect((await database.query('select count(*)::int as n from small.t')).rows).toEqual([{ n: 0 }]);
  });

  it('a file that grows while it is read stops the run', async () => {
    const path = write('growing.csv', `id,name\n${'1,a\n'.repeat(1_000)}`);
    const attempt = runPipeline(pipeline(path), {
      databaseUrl: database.url,
      onEvent: ({ type }) => type === 'loaded' && write('growing.csv', `id,name\n${'1,a\n'.repeat(1_001)}`),
    });
    expect(await failureOf(attempt)).toMatchObject({ code: 'ETL_SOURCE_CHANGED', exit: 1 });
  });
});

describe('what a table of PostgreSQL has no room for is refused with its name', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`);
  const many = names(33) as ['c0'];
  const columns = Object.fromEntries(names(33).map((name) => [name, column.integer(name)])) as {
    c0: ReturnType<typeof column.integer>;
  };
  write('many.sql', 'select c0 from t_staging');
  it.each([
    ['an index of 33 columns', 33, { columns, indexes: [index(many)] }, 'index t_c0_'],
    ['a key of 33 columns', 33, { columns, primaryKey: many }, 'primary key (c0, c1, '],
    ['a unique constraint of 33 columns', 33, { columns, unique: [many] }, 'unique t_c0_'],
    [
      'a file of 1,601 fields whose columns are not declared',
      1_601,
      { staging: 'text' as const, transform: sqlFile('many.sql') },
      'many.csv has 1601 fields',
    ],
  ])('%s', async (_, count, table, says) => {
    write('many.csv', `${names(count).join(',')}\n`);
    const given = { source: csv('many.csv'), ...table } as {
      source: ReturnType<typeof csv>;
      columns: typeof columns;
    };
    const wide = definePipeline({ name: 'wide', schema: 'wide', tables: { t: given } });
    const error = await failureOf(
      runPipeline(wide, { databaseUrl: database.url, directory, workingDirectory: directory }),
    );
    expect(error).toMatchObject({
      code: expect.stringMatching(/^ETL_(PUBLISH_REFUSED|PUBLISH_SHAPE|CONSTRAINT_REFUSED)$/),
      details: { table: 't' },
    });
    expect(error.message).toContain(says);
    expect((await database.query(`select to_regclass('wide.t') as made`)).rows).toEqual([{ made: null }]);
  });
});

describe('the server', () => {
  const path = (): string => write('fine.csv', 'id,name\n1,a\n');
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  it('wrong password', async () => {
    const error = await failureOf(
      run(
        path(),
        changed((url) => (url.password = 'sesame')),
      ),
    );
    expect(error).toMatchObject({ code: 'ETL_CONNECT_AUTH', exit: 1 });
    expect(`${error.message} ${error.hint}`).not.toContain('sesame');
  });

  it('no such database', async () => {
    const error = await failureOf(
      run(
        path(),
        changed((url) => (url.pathname = '/nowhere')),
      ),
    );
    expect(error).toMatchObject({ code: 'ETL_CONNECT_DATABASE', details: { database: 'nowhere' } });
  });

  it('nothing listens there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await failureOf(
      run(
        path(),
        changed((url) => (url.port = String(port))),
      ),
    );
    expect(error).toMatchObject({ code: 'ETL_CONNECT', exit: 1 });
    expect(error.message).toContain(`127.0.0.1:${port}`);
    expect(error.message).toContain('nothing listens there (ECONNREFUSED)');
  });

  it('not a PostgreSQL URL', async () => {
    expect(await failureOf(run(path(), 'mysql://root:secret@localhost/x'))).toMatchObject({
      code: 'ETL_USAGE',
      exit: 2,
    });
  });

  it('a user who may create nothing', async () => {
    await database.query(`do $$ begin
      if not exists (select from pg_roles where rolname = 'sluice_guest') then
        create role sluice_guest login password 'guest';
      end if;
    end $$`);
    const error = await failureOf(
      run(
        path(),
        changed((url) => {
          url.username = 'sluice_guest';
          url.password = 'guest';
        }),
      ),
    );
    // The bookkeeping schema exists already; the guest may not even look into it.
    expect(error).toMatchObject({ code: 'ETL_PERMISSION', exit: 1, details: { user: 'sluice_guest' } });
  });
});
