// Rejects as somebody works with them: limits of a run, one record in full, a CSV of the records.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, runPipeline, type Pipeline } from '../../src/index.ts';
import { rejectsCollectedMax } from '../../src/limits.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const files = useFiles();
const database = useDatabase();
const options = () => ({ databaseUrl: database.url, workers: 1 });

/** Two tables, each of a file with `bad` of 10 records rejected. */
const twoTables = (name: string, rejectLimit: number | `${number}%`, bad: number): Pipeline => {
  const table = (each: string) => {
    const records = Array.from({ length: 10 }, (_, index) => (index < bad ? 'x' : String(index)));
    const source = csv(files.write(`${name}_${each}.csv`, `id\n${records.join('\n')}\n`));
    return { source, columns: { id: column.integer('id') }, rejectLimit: '50%' } as const;
  };
  return definePipeline({ name, schema: name, rejectLimit, tables: { a: table('a'), b: table('b') } });
};

it.each([
  { limit: 3, shown: '3' },
  { limit: '19%', shown: '19%' },
] as const)(
  'all tables together are over the limit $limit of the run: nothing is published',
  async (given) => {
    const { limit, shown } = given;
    const name = `over_${shown.length}`;
    const error = await failureOf(runPipeline(twoTables(name, limit, 2), options()));
    expect(error).toMatchObject({ code: 'ETL_REJECT_LIMIT', exit: 3, details: { rejected: 4, records: 20 } });
    expect(error.message).toMatch(
      new RegExp(`^all tables together: 4 of 20 records rejected, the limit is ${shown};`),
    );
    expect(error.message).toContain(`${name}_b.csv`);
    const { rows } = await database.query(`select to_regclass('${name}.a') as table`);
    expect(rows).toEqual([{ table: null }]);
  },
);

it('all tables together are at the limit of the run: they are published', async () => {
  expect(await runPipeline(twoTables('within', 4, 2), options())).toMatchObject({ outcome: 'published' });
});

it('a run that is hopelessly over its limit stops early, though each table allows every reject', async () => {
  const bad = `id\n${'x\n'.repeat(3 * rejectsCollectedMax)}`;
  const table = { source: csv(files.write('bad.csv', bad)), columns: { id: column.integer('id') } };
  const name = 'hopeless';
  const tables = { a: { ...table, rejectLimit: '100%' }, b: { ...table, rejectLimit: '100%' } } as const;
  const pipeline = definePipeline({ name, schema: name, rejectLimit: 0, tables });
  const error = await failureOf(runPipeline(pipeline, options()));
  expect(error.message).toContain('records read so far rejected, the limit is 0');
  expect(error.details['rejected']).toBe(rejectsCollectedMax);
});

describe('rejects of a shop', () => {
  const etl = async (...args: string[]): Promise<{ exit: number; out: string; err: string }> => {
    const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
    const exit = await main(['rejects', ...args], io);
    return { exit, out: io.stdout.text, err: io.stderr.text };
  };

  const columns = { id: column.integer('Id'), price: column.integer('Price'), note: column.text('Note') };
  let prices = '';
  let run = '';
  beforeAll(async () => {
    prices = files.write('prices.csv', 'Id;Price;Note\n1;5;fine\n2;=x;"a, ""b""\nc"\n3;y\n4;z;=1+1\n');
    const others = files.write('others.csv', 'Price;Id;Note\nbad;1;x\n');
    const source = (path: string) => csv(path, { delimiter: ';' });
    const pipeline = definePipeline({
      name: 'shop',
      schema: 'shop',
      tables: {
        price: { source: source(prices), columns, rejectLimit: '100%' },
        two: { source: csv([prices, others], { delimiter: ';' }), columns, rejectLimit: '100%' },
      },
    });
    run = String((await runPipeline(pipeline, options())).runId);
  });

  it('show prints the place, every fault, the fields with those at fault marked, and the record', async () => {
    const { exit, out } = await etl('show', `${prices}:3-4`, '--table', 'price');
    expect(exit).toBe(0);
    expect(out.split('\n').slice(1)).toEqual([
      '',
      `${prices}:3-4: byte 23, record 2, table price`,
      '  column price: type: "=x" is not an integer',
      '  fields:',
      '     1  Id     2',
      '  >  2  Price  =x',
      String.raw`     3  Note   a, "b"\nc`,
      '  record:',
      String.raw`    2;=x;"a, ""b""\nc"`,
      '',
    ]);
    const json = JSON.parse((await etl('show', `${prices}:5`, run, '--json')).out);
    expect(json).toMatchObject({ pipeline: 'shop', total: 7 });
    expect(json.rejects).toMatchObject([
      { table: 'price', line: 5, byte: 41, code: 'field_count', fields: null, isCut: false, raw: '3;y' },
      { table: 'two', line: 5 },
    ]);
  });

  it('export writes a CSV of the fields as they were, into a file that must not exist', async () => {
    const out = join(files.directory, 'out.csv');
    const done = await etl('export', run, '--table', 'price', '-o', 'out.csv');
    expect(done).toEqual({
      exit: 0,
      out: `3 rejects of table price, run ${run}, in out.csv\n1 record without fields: see column _record\n`,
      err: '',
    });
    const of = (line: number, byte: number) => `${run},price,${prices},${line},${byte}`;
    const expected = [
      '_run,_table,_file,_line,_byte,_reason,_record,Id,Price,Note',
      `${of(3, 23)},"price: ""=x"" is not an integer",,2,=x,"a, ""b""\nc"`,
      `${of(5, 41)},"the record has 2 fields, the header 3",3;y,,,`,
      `${of(6, 45)},"price: ""z"" is not an integer",,4,z,=1+1`,
      '',
    ].join('\r\n');
    expect(readFileSync(out, 'utf8')).toBe(expected);
    const again = await etl('export', run, '--table', 'price', '-o', 'out.csv');
    expect(again).toMatchObject({ exit: 2, err: expect.stringContaining('out.csv already exists') });
    expect(readFileSync(out, 'utf8')).toBe(expected);
    expect((await etl('export', run, '--table', 'price', '--bom')).out).toBe(`\ufeff${expected}`);
    const json = await etl('export', run, '--table', 'two', '--file', prices, '-o', 'two.csv', '--json');
    expect(JSON.parse(json.out)).toEqual({
      runId: Number(run),
      table: 'two',
      output: 'two.csv',
      records: 3,
      raw: 1,
      cut: 0,
    });
  });

  it('a reader that goes away ends the export', async () => {
    const io = fakeIo({ env: { DATABASE_URL: database.url } });
    let texts = 0;
    io.stdout.write = (_: string, done?: (error?: Error) => void): void => {
      texts += 1;
      done?.(new Error('EPIPE'));
    };
    expect(await main(['rejects', 'export', run, '--table', 'price'], io)).toBe(0);
    expect(texts).toBe(1);
  });

  it.each([
    { args: () => ['export'], says: 'has rejects of 2 tables\n  Name one: --table price, --table two.' },
    {
      args: () => ['export', '--table', 'two'],
      says: 'are in files with different headers\n  Name one file: --file ',
    },
    { args: () => ['export', '--table', 'price', '--json'], says: '--json needs --output' },
    {
      args: () => ['export', '--table', 'price', '-o', 'no/where.csv'],
      says: 'no/where.csv cannot be written',
    },
    { args: () => ['show', 'prices.csv'], says: `'prices.csv' is not the place of a record` },
    { args: () => ['show', `${prices}:2`], says: `prices.csv:2\n  \`etl rejects list ` },
  ])('a usage error: $says', async ({ args, says }) => {
    const { exit, err } = await etl(...args());
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(says) });
    expect(existsSync(join(files.directory, 'no'))).toBe(false);
  });

  it('rejects of a run of a version that recorded no formats: shown without fields, exported after another run', async () => {
    await database.query(`update etl.run set formats = '{}' where id = $1`, [run]);
    expect((await etl('show', `${prices}:6`, run, '--table', 'price')).out).toMatch(
      /type: "z" is not an integer\n {2}record:/,
    );
    const { exit, err } = await etl('export', run, '--table', 'price');
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('--full-refresh') });
  });
});
