// Any name that PostgreSQL accepts names a schema, a table, a column, an index or a constraint, in every mode and every command.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  hash,
  index,
  list,
  range,
  sqlFile,
  type EtlError,
  type Pipeline,
} from '../../src/index.ts';
import { quoteName, quoteNames } from '../../src/db/sql.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, etl, files, run, one, startOver } = usePipelineRuns();

/** Words of SQL, of JavaScript and of our own statements, and whatever code that does not quote would trip over. */
const names = [
  'createdAt',
  'a b',
  'say "hi"',
  "o'clock",
  'a.b',
  '气温',
  'ß🐘',
  '-- $1',
  '%I %s',
  '{x} ${y}',
  '\\',
  'tab\tand\nline',
  'select',
  'user',
  '__proto__',
  'constructor',
  'toString',
  ...(
    'b c d g k l m n o p r s t x key rows row part found made whole excluded old new name value ' +
    'file line run count first last day places merge_action source target total'
  ).split(' '),
];

const schema = 'My "Schema".x; --';
const long = (end: string): string => `${'Ü'.repeat(31 - end.length)}${end}`;

/** Fields of a file are named after the columns, so that no field is missed by its name. */
const columns = {
  Id: column.integer('Id'),
  'The "Day"': column.date('The "Day"'),
  ...Object.fromEntries(names.map((name) => [name, column.text(name)])),
};

const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
const fields = ['Id', 'The "Day"', ...names];
const file = (...records: readonly (readonly [id: number, day: string, value: string])[]): string =>
  [fields, ...records.map(([id, day, value]) => [String(id), day, ...names.map((name) => value + name)])]
    .map((record) => `${record.map(quoted).join(',')}\n`)
    .join('');

const base = {
  source: csv('in/*.csv'),
  columns,
  primaryKey: ['Id'],
  comment: 'It\'s "quoted"',
  copies: 'load',
} as const;

/** Their names are those of the schema; without a name, they are made from long ones. */
const indexesOf = (table: string) => [
  index(names[0]!),
  index(['a b', 'say "hi"'], { name: `My "Index" of ${[...table].slice(-9).join('')}` }),
  index('o', { where: '"o" > \'\'' }),
];

/** Each is loaded in a mode of its own. */
const modes: Readonly<Record<string, object>> = {
  'A "Swap"': {
    keep: 2,
    unique: [{ columns: ['Id', '气温'], name: "o'key" }],
    checks: { 'Is "So"': '"Id" > 0' },
  },
  'Direct.Table': { staging: 'none' },
  'Append $1': { publish: { mode: 'append', changed: 'reload' }, missing: 'null', evolve: 'add' },
  'mErge; --': { publish: 'merge' },
  'Rebuilt "x"': { publish: { mode: 'merge', by: 'rebuild' } },
  'History%s': { publish: { mode: 'history', from: 'Valid "from"', to: 'Valid.To' } },
  [long('p')]: { partitionBy: hash('Id', 2) },
  [long('q')]: { partitionBy: range('The "Day"', 'month'), primaryKey: ['Id', 'The "Day"'] },
  ['__proto__']: {
    partitionBy: list('The "Day"'),
    primaryKey: ['Id', 'The "Day"'],
    publish: { mode: 'replace', only: 'touched' },
  },
};

const tableOf = (name: string, change: object): object => ({
  ...base,
  indexes: indexesOf(name),
  tests: [
    expected.unique('Id'),
    expected.notNull('气温'),
    expected.accepted('select', ['aselect', 'bselect', 'cselect']),
  ],
  ...change,
});

/** Rows as lists, so that no name of a column is that of the query's own. */
const rowsOf = (table: string): Promise<unknown> =>
  one(
    `select json_agg(json_build_array(${quoteNames(fields)}) order by "Id", "The ""Day""") from ${quoteName(schema, table)}`,
  );

const row = (id: number, day: string, value: string): unknown[] => [
  id,
  day,
  ...names.map((name) => value + name),
];

const pipelineOf = (tables: readonly (readonly [name: string, table: object])[]): Pipeline =>
  definePipeline({ name: 'any', schema, snapshotWaitMs: false, tables: Object.fromEntries(tables) as never });

beforeEach(() => startOver(quoteName(schema)));

describe.each(Object.entries(modes))('table %j', (name, change) => {
  const pipeline = pipelineOf([[name, tableOf(name, change)]]);
  const keepsLast = /merge|history/.test(JSON.stringify(change));

  it('is made and changed', async () => {
    const staged = "select count(*)::int from pg_class where relnamespace = 'etl_staging'::regnamespace";
    files.write('in/1.csv', file([1, '2026-01-05', 'a'], [2, '2026-02-06', 'b']));
    const before =
      (await one("select to_regnamespace('etl_staging') is null")) === true ? 0 : await one(staged);
    await run(pipeline);
    expect(await rowsOf(name)).toEqual([row(1, '2026-01-05', 'a'), row(2, '2026-02-06', 'b')]);
    await database.query(`create view ${quoteName(schema, 'v')} as select * from ${quoteName(schema, name)}`);
    files.write('in/2.csv', file([3, '2026-02-07', 'c']));
    await run(pipeline);
    const three = [row(1, '2026-01-05', 'a'), row(2, '2026-02-06', 'b'), row(3, '2026-02-07', 'c')];
    expect(await rowsOf(name)).toEqual(three);
    expect((await run(pipeline)).outcome).toBe('unchanged');
    expect(await one(staged)).toBe(before);
  });

  it('names a key that is there twice', async () => {
    files.write('in/1.csv', file([1, '2026-01-05', 'a'], [1, '2026-01-05', 'b']));
    const outcome = await run(pipeline).then(
      () => rowsOf(name),
      ({ code }: EtlError) => code,
    );
    expect(outcome).toEqual(keepsLast ? [row(1, '2026-01-05', 'b')] : 'ETL_DUPLICATE_KEY');
  });

  it('names a data test that a row fails', async () => {
    files.write('in/1.csv', file([1, '2026-01-05', 'z']));
    await expect(run(pipeline)).rejects.toMatchObject({
      code: 'ETL_TEST_FAILED',
      message: expect.stringContaining('select') as string,
    });
  });
});

/** The tables of all modes, one that refers to them, and two that SQL makes. */
const everything = (): Pipeline =>
  pipelineOf([
    ...Object.entries(modes).map(([name, change]) => [name, tableOf(name, change)] as const),
    [
      'Child.Table',
      tableOf('c', {
        foreignKeys: [
          { columns: 'Id', references: 'mErge; --.Id', name: 'To "merge"' },
          { columns: 'Id', references: { table: 'A "Swap"', columns: 'Id' } },
        ],
        tests: [
          expected.references('Id', 'mErge; --.Id'),
          expected.references('Id', { table: 'Direct.Table', column: 'Id' }, { name: 'of "Direct"' }),
          expected.references(
            'Id',
            { schema: 'out.side', table: 'A "b"', column: '"Id"' },
            { name: 'outside' },
          ),
        ],
      }),
    ],
    ['Made "By" SQL', { from: ['A "Swap"'], transform: sqlFile('made.sql'), primaryKey: ['N "1"'] }],
    [
      'Text',
      { source: csv('in/*.csv'), staging: 'text', transform: sqlFile('text.sql'), primaryKey: ['Id'] },
    ],
  ]);

it('tables of all modes are loaded by one run, and every command names them', async () => {
  files.write('made.sql', 'select count(*) as "N ""1""", max("say ""hi""") as "Top" from "A ""Swap"""');
  files.write('text.sql', 'select "Id"::int, "say ""hi""" as "Hi" from "Text_staging"');
  files.write('in/1.csv', file([1, '2026-01-05', 'a'], [2, '2026-02-06', 'b']));
  await database.query(
    'create schema "out.side"; create table "out.side"."A ""b""" as select generate_series(1, 3) as """Id"""',
  );
  const result = await run(everything());
  expect(result.tables.map(({ table }) => table)).toEqual([
    ...Object.keys(modes),
    'Child.Table',
    'Made "By" SQL',
    'Text',
  ]);
  expect(await one(`select to_json(t) from ${quoteName(schema, 'Made "By" SQL')} t`)).toEqual({
    'N "1"': 2,
    Top: 'bsay "hi"',
  });
  files.write('in/2.csv', file([3, '2026-03-06', 'c']));
  await run(everything());
  const three = [row(1, '2026-01-05', 'a'), row(2, '2026-02-06', 'b'), row(3, '2026-03-06', 'c')];
  for (const name of [...Object.keys(modes), 'Child.Table']) expect(await rowsOf(name)).toEqual(three);
});

it('every command takes and prints them', async () => {
  const [table, other] = ['A "Swap"\n.x', '--all'];
  const texts = names.map((name) => `[${JSON.stringify(name)}]: column.text(${JSON.stringify(name)})`);
  const tables = [table, other].map(
    (name, at) =>
      `[${JSON.stringify(name)}]: {
        source: csv('in/*.csv'), rejectLimit: 5, keep: 1, primaryKey: ['The Id'],
        columns: { 'The Id': column.integer('Id'), ${texts.join(', ')} },
        indexes: [index(${JSON.stringify(names[2])}, { name: 'i${at}.x' })],
      }`,
  );
  const path = files.write(
    'any.ts',
    `import { column, csv, definePipeline, index } from 'sluice';
    export default definePipeline({ name: 'any', schema: ${JSON.stringify(schema)}, snapshotWaitMs: false, tables: { ${tables.join(', ')} } });`,
  );
  files.write(
    'in/1.csv',
    file([1, '2026-01-05', 'a'], [2, '2026-02-06', 'b']) +
      '"three"' +
      ',"x"'.repeat(fields.length - 1) +
      '\n',
  );
  /** As it is printed: control characters are escaped. */
  const shown = 'A "Swap"\\n.x';
  const expectAll = async (...commands: readonly (readonly string[])[]): Promise<void> => {
    for (const args of commands)
      expect(await etl(...args), args.join(' ')).toMatchObject({
        exit: 0,
        out: expect.stringContaining(
          args.includes('--json') ? JSON.stringify(table).slice(1, -1) : shown,
        ) as string,
      });
  };
  await expectAll(['plan', path], ['preview', path], ['preview', path, '--json'], ['run', path, '--json']);
  await expectAll(
    ['run', path, '--full-refresh'],
    ['verify', path],
    ['verify', path, '--json'],
    ['status', '1'],
  );
  await expectAll(['rejects', 'list', '1', '--table', table, '--json']);
  await expectAll(
    ['rejects', 'export', '1', '--table', table, '-o', 'out.csv'],
    ['files', path],
    ['rollback', path],
  );
  expect((await etl('rejects', 'list', '1', `--table=${other}`)).out).toContain('three');
});
