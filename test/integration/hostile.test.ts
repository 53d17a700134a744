// Hostile headers, file names, values, parameters and messages go through every statement as what they are: texts.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline, runPipeline, sqlFile, type RunOptions } from '../../src/index.ts';
import { main } from '../../src/cli/main.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { hostileTexts, longName, unstorable } from '../helpers/hostile-texts.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const files = useFiles();
const database = useDatabase();

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
/** Names of PostgreSQL are 63 bytes long at most. */
const headers = hostileTexts.map((text, place) => `${place} ${text}`.slice(0, 40));
const fileNames = hostileTexts.map((text) => `${text.replaceAll('/', '∕')}.csv`);
const values = hostileTexts.map((text) => `${text}…`);

const options = (more: RunOptions = {}): RunOptions => ({
  databaseUrl: database.url,
  directory: files.directory,
  workingDirectory: files.directory,
  workers: 2,
  ...more,
});

const ask = async <T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> =>
  (await database.query(sql, parameters)).rows.map((row) => Object.values(row)[0] as T);

/** Everything that a statement out of a text could have made or dropped, but what runs make. */
const surroundings = (): Promise<string[]> =>
  ask(`select format('%s.%s', n.nspname, c.relname) as object
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'etl', 'etl_queue', 'etl_staging')
      and c.relkind in ('r', 'v') and n.nspname !~ '^pg_temp'
    order by 1`);

const etl = async (...args: string[]) => {
  const io = fakeIo({ env: { DATABASE_URL: database.url } });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text };
};

beforeAll(async () => {
  await database.query('create table victim (id integer); insert into victim values (1)');
  mkdirSync(join(files.directory, 'named'));
  // One file a text: its name, a value of it, and one that is no number.
  fileNames.forEach((name, place) => {
    const lines = ['n,word', `${place},${quoted(values[place]!)}`, `${quoted(values[place]!)},x`];
    writeFileSync(join(files.directory, 'named', name), `${lines.join('\n')}\n`);
  });
  files.write('headers.csv', `${headers.map(quoted).join(',')}\n${values.map(quoted).join(',')}\n`);
  files.write('all.sql', 'select * from raw_staging');
});

const made = new Set([
  'named.words',
  'public.victim',
  'stopped.words',
  'text.over',
  'text.raw',
  'told.t',
  'typed.one',
]);

/** Nothing out of a text was executed. */
afterEach(async () => {
  assert.deepEqual(await ask('select id from victim'), [1]);
  assert.deepEqual(
    (await surroundings()).filter((object) => !made.has(object)),
    [],
  );
});

describe('file names and values', () => {
  const pipeline = definePipeline({
    name: 'named',
    schema: 'named',
    tables: {
      words: {
        source: csv('named/*.csv'),
        columns: { n: column.integer('n'), word: column.text('word') },
        primaryKey: ['n'],
        rejectLimit: '60%',
        comment: values.join(' '),
      },
    },
  });

  let run = 0;
  beforeAll(async () => {
    run = (await runPipeline(pipeline, options())).runId;
  });

  it('arrive as they are', async () => {
    expect(await ask('select word from named.words order by n')).toEqual(values);
  });

  it('are in the ledger unchanged', async () => {
    const names = await ask<string>('select name from etl.source_file where run_id = $1', [run]);
    expect(names.toSorted()).toEqual(fileNames.map((name) => `named/${name}`).toSorted());
  });

  it('are kept with their rejects', async () => {
    const raw = await ask<string>('select raw from etl.reject where run_id = $1', [run]);
    expect(raw.toSorted()).toEqual(values.map((value) => `${quoted(value)},x`).toSorted());
  });

  it.each([
    { args: ['status'] },
    { args: ['status', 'RUN', '--json'] },
    { args: ['status', 'RUN'] },
    { args: ['rejects', 'list', 'RUN', '--json'] },
  ])('are shown by etl $args', async ({ args }) => {
    const given = args.map((arg) => arg.replace('RUN', String(run)));
    expect((await etl(...given)).exit).toBe(0);
  });

  it('are no table that etl knows', async () => {
    const table = "words'; drop table victim; --";
    expect(await etl('rejects', 'list', '--table', table)).toMatchObject({ exit: 2 });
  });

  it('are no commands to a terminal', async () => {
    const { out } = await etl('rejects', 'list', String(run));
    expect(out).toContain('named/');
    // eslint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('become the comment of a table that is replaced again', async () => {
    await runPipeline(pipeline, options({ fullRefresh: true }));
    expect(await ask(`select obj_description('named.words'::regclass)`)).toEqual([values.join(' ')]);
  });
});

describe('headers', () => {
  const typed = definePipeline({
    name: 'typed',
    schema: 'typed',
    tables: {
      one: {
        source: csv('headers.csv'),
        columns: Object.fromEntries(headers.map((header, place) => [`c${place}`, column.text(header)])),
      },
    },
  });
  const text = definePipeline({
    name: 'text',
    schema: 'text',
    tables: { raw: { source: csv('headers.csv'), staging: 'text', transform: sqlFile('all.sql') } },
  });
  const rowOf = async (table: string): Promise<Record<string, string>> =>
    (await database.query<Record<string, string>>(`select * from ${table}`)).rows[0]!;

  it('find their columns', async () => {
    await runPipeline(typed, options());
    expect(Object.values(await rowOf('typed.one'))).toEqual(values);
  });

  beforeAll(() => runPipeline(text, options()));

  it('become columns of text staging, and of the table made from it', async () => {
    expect(Object.entries(await rowOf('text.raw'))).toEqual(
      headers.map((header, place) => [header, values[place]]),
    );
  });

  it('are columns that keep their indexes, grants and comments when the table is replaced', async () => {
    const role = `"role ${quoted(headers[0]!).slice(1, -1)} ${Date.now()}"`;
    await database.query(`create role ${role}`);
    try {
      await database.query(`create index ${quoted(headers[1]!)} on text.raw (${quoted(headers[0]!)});
        grant select (${headers.map(quoted).join(', ')}) on text.raw to ${role};
        comment on column text.raw.${quoted(headers[2]!)} is 'it''s \\ kept'`);
      await runPipeline(text, options({ fullRefresh: true }));
      const [index] = await ask(`select indexname from pg_indexes where schemaname = 'text'`);
      const [comment] = await ask(`select col_description('text.raw'::regclass, 3)`);
      const grants = await ask(
        `select count(*)::int from pg_attribute where attrelid = 'text.raw'::regclass and attacl is not null`,
      );
      expect({ index, comment, grants }).toEqual({
        index: headers[1],
        comment: `it's \\ kept`,
        grants: [headers.length],
      });
    } finally {
      await database.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it('are columns whose rows are replaced in place below a view', async () => {
    await database.query(`create view text.over as select ${quoted(headers[0]!)} as "it's" from text.raw`);
    const { tables } = await runPipeline(text, options({ fullRefresh: true }));
    expect([tables[0]!.strategy, ...(await ask('select * from text.over'))]).toEqual(['in place', values[0]]);
  });

  it.each([
    { name: 'with NUL', bytes: Buffer.from('a,b\0c\n1,2\n'), code: 'ETL_HEADER_INVALID' },
    {
      name: 'with a lone surrogate',
      bytes: Buffer.from([0x61, 0x2c, 0xed, 0xa0, 0x80, 0x0a]),
      code: 'ETL_HEADER_INVALID',
    },
    // PostgreSQL cuts both to one name.
    {
      name: 'that begin like another, longer than a name',
      bytes: `${longName}1,${longName}2\n1,2\n`,
      code: 'ETL_HEADER_DUPLICATE',
    },
    { name: 'that are the same twice', bytes: 'a,a\n1,2\n', code: 'ETL_HEADER_DUPLICATE' },
  ])('$name are refused', async ({ bytes, code }) => {
    files.write('refused.csv', bytes);
    const refused = definePipeline({
      name: 'refused',
      schema: 'refused',
      tables: { raw: { source: csv('refused.csv'), staging: 'text', transform: sqlFile('all.sql') } },
    });
    expect(await failureOf(runPipeline(refused, options()))).toMatchObject({ code });
  });
});

describe('names of a declaration', () => {
  const columns = { a: column.text('a') };
  const table = { source: csv('a.csv'), columns };
  const places: readonly { place: string; define: (name: string) => unknown }[] = [
    { place: 'the pipeline', define: (name) => definePipeline({ name, schema: 's', tables: { a: table } }) },
    { place: 'the schema', define: (schema) => definePipeline({ name: 'p', schema, tables: { a: table } }) },
    {
      place: 'a table',
      define: (name) => definePipeline({ name: 'p', schema: 's', tables: { [name]: table } }),
    },
    {
      place: 'a column',
      define: (name) =>
        definePipeline({
          name: 'p',
          schema: 's',
          tables: { a: { source: csv('a.csv'), columns: Object.fromEntries([[name, column.text('a')]]) } },
        }),
    },
    {
      place: 'a type',
      define: (name) =>
        definePipeline({
          name: 'p',
          schema: 's',
          tables: { a: { source: csv('a.csv'), columns: { a: column.of(name, 'a') } } },
        }),
    },
  ];
  /** The server's own names may be any text that it can store; some are names of types, too. */
  const isFine = (place: string, name: string): boolean =>
    place === 'a type' ? /^[\w".]+$/.test(name) : place !== 'the pipeline' && hostileTexts.includes(name);
  const cases = places.flatMap(({ place, define }) =>
    [...hostileTexts, unstorable, longName]
      .filter((name) => !isFine(place, name) && name !== 'null')
      .map((name) => ({ place, name, define })),
  );

  it('that the server can store are names of schema, tables and columns', async () => {
    const [schema = ''] = hostileTexts;
    files.write('words.csv', `${headers.map(quoted).join(',')}\n${values.map(quoted).join(',')}\n`);
    const all = Object.fromEntries(hostileTexts.map((name, at) => [name, column.text(headers[at]!)]));
    const tables = Object.fromEntries(
      hostileTexts.map((name) => [name, { source: csv('words.csv'), columns: all }]),
    );
    await runPipeline(definePipeline({ name: 'named_so', schema, tables }), options());
    const names = `select relname::text from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'`;
    expect((await ask<string>(names, [schema])).toSorted()).toEqual(hostileTexts.toSorted());
    const fields = `select attname::text from pg_attribute where attrelid = to_regclass($1) and attnum > 0 order by attnum`;
    expect(await ask(fields, [[schema, hostileTexts[1]!].map(quoted).join('.')])).toEqual(hostileTexts);
    await database.query(`drop schema ${quoted(schema)} cascade`);
  });

  it.each(cases)('$place: $name is refused', ({ name, define }) => {
    expect(() => define(name)).toThrow(expect.objectContaining({ code: 'ETL_DEFINITION' }));
  });
});

describe('parameters', () => {
  const pipeline = definePipeline({
    name: 'told',
    schema: 'told',
    params: z.object({ words: z.array(z.string()) }),
    tables: () => ({ t: { source: csv('headers.csv'), columns: { a: column.text(headers[0]!) } } }),
  });

  const stored = async (words: readonly string[]) => {
    const { runId } = await runPipeline(pipeline, options({ params: { words } }));
    return (await ask<{ words: string[] }>('select params from etl.run where id = $1', [runId]))[0]!.words;
  };

  it('are in the ledger unchanged', async () => expect(await stored(hostileTexts)).toEqual(hostileTexts));

  it('that cannot be stored are stored with what can be', async () =>
    expect(await stored([unstorable])).toEqual(['nul \\x00, lone \ufffd and \ufffd']));
});

describe('what a function of the pipeline throws', () => {
  it.each([...hostileTexts.filter((text) => text.includes('drop')), unstorable])(
    '%j is recorded',
    async (message) => {
      const pipeline = definePipeline({
        name: 'thrown',
        schema: 'thrown',
        tables: {
          t: {
            source: csv('headers.csv'),
            columns: {
              a: column.text(headers[0]!).map(() => {
                throw new Error(message);
              }),
            },
          },
        },
      });
      const error = await failureOf(runPipeline(pipeline, options({ fresh: true })));
      const [stored] = await ask<string>('select error from etl.run order by id desc limit 1');
      expect({ code: error.code, stored }).toEqual({
        code: 'ETL_USER_FUNCTION',
        stored: error.message.toWellFormed().replaceAll('\0', '\\x00'),
      });
    },
  );
});

describe('a run of hostile files that was stopped', () => {
  const lines = Array.from(
    { length: 2_000 },
    (_, place) => `${place},${quoted(values[place % values.length]!)}`,
  );
  const pipeline = definePipeline({
    name: 'stopped',
    schema: 'stopped',
    tables: {
      words: {
        source: csv('stopped*/*.csv'),
        columns: { n: column.integer('n'), word: column.text('word') },
        primaryKey: ['n'],
      },
    },
  });

  it('goes on where it was', async () => {
    const directory = join(files.directory, `stopped '"; drop table victim; --`);
    mkdirSync(directory);
    writeFileSync(join(directory, `a'"\\;.csv`), `n,word\n${lines.join('\n')}\n`);
    const controller = new AbortController();
    const stopping = options({
      chunkBytes: 10_000,
      drain: controller.signal,
      onEvent: ({ type }) => type === 'progress' && controller.abort(new Error(unstorable)),
    });
    expect(await failureOf(runPipeline(pipeline, stopping))).toMatchObject({ code: 'ETL_INTERRUPTED' });
    const events: string[] = [];
    await runPipeline(pipeline, options({ onEvent: ({ type }) => events.push(type) }));
    expect({
      resumed: events.includes('resumed'),
      rows: await ask('select count(*)::int from stopped.words'),
    }).toEqual({
      resumed: true,
      rows: [lines.length],
    });
  });
});
