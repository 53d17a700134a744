// `etl types`: what it writes compiles against Kysely and Drizzle, and is what their queries return.

import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { columnTypes } from '../../src/format/types/registry.ts';
import { loadPipelineFile, runPipeline } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { typeScriptArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { root } from '../unit/project/source-files.ts';

const database = useDatabase();
const { directory, write } = useFiles();
symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));

/** Types that `column.of` names, with a literal. pg reads arrays of some types and not of others. */
const named: Readonly<Record<string, string>> = {
  'varchar(20)[]': '{a,b}',
  'int[]': '{1,2}',
  'int8 [3]': '{1,2,3}',
  'numeric(6,2)[]': '{1.50}',
  'float8[]': '{1.5}',
  'boolean[]': '{t,f}',
  'timestamptz[]': '{2020-01-02 03:04:05+00}',
  'timestamp(3)[]': '{2020-01-02 03:04:05}',
  'date[]': '{2020-01-02}',
  'jsonb[]': '{1}',
  'bytea[]': '{"\\\\x00"}',
  'uuid[]': '{00000000-0000-4000-8000-000000000000}',
  'bit(2)[]': '{01}',
  'circle[]': '{"<(1,2),3>"}',
  'char(2)': 'ab',
  'pg_catalog.int2': '3',
  'timestamp(3) with time zone': '2020-01-02 03:04:05+00',
  'time(2) with time zone': '03:04:05+00',
  'interval day to second': '1 02:03:04',
  'interval[]': '{1 day}',
  point: '(1,2)',
  circle: '<(1,2),3>',
  box: '(2,2),(1,1)',
  inet: '10.0.0.1',
  'cidr[]': '{10.0.0.0/8}',
  macaddr: '08:00:2b:01:02:03',
  'macaddr8[]': '{08:00:2b:01:02:03:04:05}',
  money: '$1.00',
  oid: '7',
  'bit varying(9)': '101',
  int4range: '[1,5)',
  'numrange[]': '{"[1,5)"}',
  tsvector: 'a b',
  xml: '<a/>',
};

/** What each column type makes of a literal, with the options that it needs. */
const literals: Readonly<Record<string, readonly [literal: string, options?: string]>> = {
  text: ['a'],
  varchar: ['a', '{ length: 5 }'],
  smallint: ['1'],
  integer: ['1'],
  bigint: ['9007199254740993'],
  real: ['1.5'],
  double: ['1.5'],
  numeric: ['1.50', '{ precision: 6, scale: 2 }'],
  boolean: ['true'],
  date: ['2020-01-02'],
  time: ['03:04:05'],
  timestamp: ['2020-01-02 03:04:05'],
  timestamptz: ['2020-01-02 03:04:05', "{ zone: 'UTC' }"],
  uuid: ['00000000-0000-4000-8000-000000000000'],
  json: ['{"a":1}'],
  jsonb: ['{"a":1}'],
  bytea: ['\\x00'],
};

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const header = [...Object.keys(literals), ...Object.keys(named)];
const fields = [...Object.values(literals).map(([literal]) => literal), ...Object.values(named)];
write('in/kind.csv', `${header.map(quoted).join()}\n${fields.map(quoted).join()}\n`);
write('in/odd.csv', "id,it's,class\n1,x,2020-01-02\n");

const pipelineText = (evolve: string) => `import { column, csv, definePipeline, sqlFile } from 'sluice';
export default definePipeline({
  name: 'kinds${evolve}',
  schema: 'My "kinds"',
  tables: {
    kind: {
      source: csv('in/kind.csv'),
      publish: { mode: 'append' }, evolve: '${evolve}',
      lineage: true,
      columns: {
${Object.entries(literals)
  .map(
    ([type, [, options]]) =>
      `${type}: column.${type}('${type}'${options === undefined ? '' : `, ${options}`}),`,
  )
  .join('\n')}
${Object.keys(named)
  .map((type) => `'of ${type}': column.of('${type}', '${type}').nullable(),`)
  .join('\n')}
        twice: column.generated('int', '("integer" * 2)'),
        number: column.identity('by default'),
      },
      primaryKey: ['integer'],
    },
    version: {
      source: csv('in/odd.csv'),
      publish: { mode: 'history' }, evolve: '${evolve}',
      columns: { id: column.integer('id'), "it's": column.text("it's") },
      primaryKey: ['id'],
    },
    dated: {
      source: csv('in/odd.csv'),
      publish: { mode: 'history', at: 'class', from: 'since', to: 'until' }, evolve: '${evolve}',
      columns: { class: column.date('class'), id: column.integer('id'), größe: column.text("it's").nullable() },
      primaryKey: ['id'],
    },
    merged: {
      source: csv('in/odd.csv'),
      publish: { mode: 'merge' }, evolve: '${evolve}',
      columns: { id: column.integer('id'), number: column.identity() },
      primaryKey: ['id'],
    },
  },
});
`;

write('pipelines/kinds.ts', pipelineText('refuse'));
write('kept.ts', pipelineText('keep'));
write(
  'pipelines/people.ts',
  `import { column, csv, definePipeline, sqlFile } from 'sluice';
export default definePipeline({
  name: 'people',
  schema: 'public',
  tables: {
    User: {
      source: csv('in/odd.csv'),
      columns: { id: column.integer('id'), createdAt: column.timestamp('class', { format: 'YYYY-MM-DD' }) },
      primaryKey: ['createdAt', 'id'],
    },
    user: { source: csv('in/odd.csv'), columns: { mood: column.of('"My mood"', "it's") } },
    '2 dates "of" it\\'s': { source: csv('in/odd.csv'), columns: { 'a b': column.text('id') } },
    date: { from: ['User'], transform: sqlFile('date.sql') },
  },
});
`,
);
write(
  'pipelines/date.sql',
  `select id, "createdAt" as "Date", 5::score as score, 'x'::"My mood" as mood, array['x'::"My mood"] as moods,
  1::bigint as "big", 'a' as text from "User"`,
);

const etlWith = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
  const io = fakeIo({ env: { ETL_EMBEDDED: 'never', ...env }, workingDirectory: directory });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};
const etl = (...args: string[]) => etlWith({ DATABASE_URL: database.url }, ...args);
/** Names a server that does not exist. */
const etlAlone = (...args: string[]) => etlWith({ DATABASE_URL: 'postgres://127.0.0.1:1/none' }, ...args);

/** What a program of the directory prints, errors included. */
const outputOf = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd: directory, env: { ...process.env, ...env } }, (_, out, err) =>
      resolve(out + err),
    );
  });

const forms = ['interfaces', 'kysely', 'drizzle'] as const;

beforeAll(async () => {
  await database.query(
    `create type "My mood" as enum ('x'); create domain score as integer check (value > 0)`,
  );
  for (const file of ['kinds', 'people']) {
    const loaded = await loadPipelineFile(join(directory, `pipelines/${file}.ts`));
    await runPipeline(loaded.pipeline, {
      databaseUrl: database.url,
      directory: loaded.directory,
      workingDirectory: directory,
    });
  }
  write('package.json', '{"type":"module"}');
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: 'nodenext',
        target: 'es2023',
        skipLibCheck: true,
        types: ['node'],
        allowImportingTsExtensions: true,
        noUnusedLocals: true,
      },
      include: ['*.ts'],
      exclude: ['kept.ts'],
    }),
  );
});

it('one table of the test has every column type', () =>
  expect(Object.keys(columnTypes).filter((type) => type !== 'of')).toEqual(Object.keys(literals)));

describe('from the declaration', () => {
  it.each(forms)('%s: needs no server, and is what the catalogue says', async (form) => {
    const declared = await etlAlone('types', 'kinds', '--as', form);
    expect(declared).toMatchObject({ exit: 0, err: '' });
    const read = await etl('types', join(directory, 'kept.ts'), '--as', form);
    expect(read.out).toBe(declared.out);
  });

  it('a table that SQL makes needs a server', async () => {
    const { exit, err } = await etlAlone('types', 'people');
    expect({ exit, err }).toMatchObject({ exit: 1, err: expect.stringContaining('ETL_CONNECT') });
  });
});

/** Queries all tables with Kysely and Drizzle, and prints what each value is. */
const program = `import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect, type Insertable, type Updateable } from 'kysely';
import pg from 'pg';
import type { Database } from './kysely.ts';
import * as schema from './drizzle.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });
const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return 'Date';
  if (Buffer.isBuffer(value)) return 'Buffer';
  if (Array.isArray(value)) return kindOf(value[0]) + '[]';
  return 'a' in value ? 'unknown' : '{ ' + Object.keys(value).join(' ') + ' }';
};
const kindsOf = (row: object | undefined) => Object.fromEntries(Object.entries(row!).map(([name, value]) => [name, kindOf(value)]));

const name: Insertable<Database['User']> = { id: 9, createdAt: '2020-01-01' };
await db.insertInto('User').values(name).execute();
const change: Updateable<Database['User']> = { id: 10 };
await db.updateTable('User').set(change).where('User.id', '=', 9).execute();
await db.deleteFrom('User').where('createdAt', '=', new Date('2020-01-01T00:00:00')).where('id', '=', 10).execute();
// @ts-expect-error The server alone fills this column.
export const refused = () => db.updateTable('My "kinds".kind').set({ twice: 1 });

const rows = drizzle(pool);
await rows.insert(schema.publicUser2).values({ mood: 'x' });
console.log(JSON.stringify({
  kysely: {
    'My "kinds".kind': kindsOf(await db.selectFrom('My "kinds".kind').selectAll().executeTakeFirst()),
    'My "kinds".version': kindsOf(await db.selectFrom('My "kinds".version').selectAll().executeTakeFirst()),
    User: kindsOf(await db.selectFrom('User').selectAll().executeTakeFirst()),
    user: kindsOf(await db.selectFrom('user').selectAll().executeTakeFirst()),
    date: kindsOf(await db.selectFrom('date').selectAll().executeTakeFirst()),
  },
  drizzle: {
    kind: kindsOf((await rows.select().from(schema.kind))[0]),
    version: kindsOf((await rows.select().from(schema.version))[0]),
    date: kindsOf((await rows.select().from(schema.date))[0]),
    publicUser2: kindsOf((await rows.select().from(schema.publicUser2))[0]),
    _2DatesOfItS: kindsOf((await rows.select().from(schema._2DatesOfItS))[0]),
  },
}));
await pool.end();
`;

type Kinds = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Types that are objects, as the driver returns them. */
const objects: Readonly<Record<string, string>> = {
  '{ x y }': '{ x: number; y: number }',
  '{ x y radius }': '{ x: number; y: number; radius: number }',
};

/** Assertions for the compiler: each column's type is the kind of the value that a query returned. */
const assertions = (kinds: Kinds, rowOf: (table: string) => string): string =>
  Object.entries(kinds)
    .flatMap(([table, columns]) =>
      Object.entries(columns)
        // Any value of JSON is unknown; a version that is valid now has no end.
        .filter(([name, kind]) => !/^json|jsonb\[\]/.test(name) && kind !== 'null' && !/ interval/.test(name))
        .map(([name, kind]) => {
          const type = `NonNullable<${rowOf(table)}[${JSON.stringify(name)}]>`;
          return `export const _${Math.random().toString(36).slice(2)}: Equal<${type}, ${objects[kind] ?? kind}> = true;`;
        }),
    )
    .join('\n');

const equal = 'type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;\n';

it('what it writes compiles, and queries return the declared types', async () => {
  for (const form of forms)
    expect(await etl('types', '--as', form, '--out', `${form}.ts`)).toEqual({ exit: 0, out: '', err: '' });
  const file = write('query.ts', program);
  const out = await outputOf(process.execPath, typeScriptArgs(file, []), { DATABASE_URL: database.url });
  expect(out).toMatch(/^\{.*\}\n$/);
  const { kysely, drizzle } = JSON.parse(out) as { readonly kysely: Kinds; readonly drizzle: Kinds };
  expect(Object.keys(kysely['My "kinds".kind']!)).toHaveLength(header.length + 6);
  write(
    'kinds.ts',
    `import type { Selectable } from 'kysely';
import type { Database } from './kysely.ts';
import type * as rows from './interfaces.ts';
import type * as schema from './drizzle.ts';
${equal}${assertions(kysely, (table) => `Selectable<Database[${JSON.stringify(table)}]>`)}
${assertions({ Kind: kysely['My "kinds".kind']!, Version: kysely['My "kinds".version']! }, (table) => `rows.${table}`)}
${assertions(drizzle, (table) => `(typeof schema.${table}.$inferSelect)`)}
`,
  );
  expect(await outputOf(join(root, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
});

describe('--out', () => {
  it('--check ends with 1 if the file differs, and writes nothing', async () => {
    await etl('types', 'kinds', '--out', 'checked.d.ts');
    const path = join(directory, 'checked.d.ts');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('\n', '\r\n'));
    expect(await etl('types', 'kinds', '--out', 'checked.d.ts', '--check')).toMatchObject({
      exit: 0,
      err: '',
    });
    writeFileSync(path, text.replace('twice', 'thrice'));
    const { exit, err } = await etl('types', 'kinds', '--out', 'checked.d.ts', '--check');
    expect({ exit, err }).toEqual({
      exit: 1,
      err: expect.stringMatching(
        /^error ETL_TYPES_DIFFER: .*checked\.d\.ts differs .* kindsrefuse: first in line \d+\n/,
      ),
    });
    expect(readFileSync(path, 'utf8')).toContain('thrice');
    await etl('types', 'kinds', '--out', 'checked.d.ts');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each([
    {
      name: 'a file that it has not written',
      args: ['--out', 'kept.ts'],
      says: /ETL_USAGE: .*kept\.ts was not written by/,
    },
    { name: 'a folder', args: ['--out', 'in'], says: /ETL_USAGE: EISDIR/ },
    { name: '--check without a file', args: ['--check'], says: /ETL_USAGE: --check needs --out/ },
    { name: 'another form', args: ['--as', 'prisma'], says: /ETL_USAGE: --as: / },
  ])('refuses $name', async ({ args, says }) => {
    const { exit, err } = await etl('types', 'kinds', ...args);
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringMatching(says) });
  });

  it('refuses a table that is not published yet', async () => {
    const file = write('next.ts', pipelineText('keep').replace('    merged:', '    next:'));
    const { exit, err } = await etl('types', file);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringMatching(
        /ETL_TYPES_UNKNOWN: only the server knows the columns of My "kinds"\.next, because its evolve is 'keep', and the table is not/,
      ),
    });
  });
});
