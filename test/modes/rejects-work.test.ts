// Rejects as somebody works with them: limits of a run, one record in full, a CSV of the records.

import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, sqlFile, when, type Pipeline } from '../../src/index.ts';
import { rejectsCollectedMax } from '../../src/core/limits.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const { files, database, notices, one, rowsOf, run: runPipeline, etl: anyCommand } = usePipelineRuns();
const etl = (...args: string[]) => anyCommand('rejects', ...args);

/** A pipeline of two tables, each of the file of its name. */
const twoTables = (
  name: string,
  rejectLimit: number | `${number}%`,
  content: string,
  ofTable: `${number}%`,
): Pipeline => {
  const table = (each: string) => ({
    source: csv(files.write(`${name}_${each}.csv`, content)),
    columns: { id: column.integer('id') },
    rejectLimit: ofTable,
  });
  return definePipeline({ name, schema: name, rejectLimit, tables: { a: table('a'), b: table('b') } });
};
const twoOfTen = `id\nx\nx\n${[2, 3, 4, 5, 6, 7, 8, 9].join('\n')}\n`;

it.each([
  { limit: 3, shown: '3' },
  { limit: '19%', shown: '19%' },
] as const)(
  'all tables together are over the limit $limit of the run: nothing is published',
  async ({ limit, shown }) => {
    const name = `over_${shown.length}`;
    const error = await failureOf(runPipeline(twoTables(name, limit, twoOfTen, '50%')));
    expect(error).toMatchObject({ code: 'ETL_REJECT_LIMIT', exit: 3, details: { rejected: 4, records: 20 } });
    expect(error.message).toContain(`all tables together: 4 of 20 records rejected, the limit is ${shown};`);
    expect(error.message).toContain(`${name}_b.csv`);
    expect(await one(`select to_regclass('${name}.a')`)).toBeNull();
  },
);

it('all tables together are at the limit of the run: they are published', async () => {
  expect(await runPipeline(twoTables('within', 4, twoOfTen, '50%'))).toMatchObject({ outcome: 'published' });
});

it('a run that is hopelessly over its limit stops early, though each table allows every reject', async () => {
  const bad = `id\n${'x\n'.repeat(3 * rejectsCollectedMax)}`;
  const error = await failureOf(runPipeline(twoTables('hopeless', 0, bad, '100%')));
  expect(error.message).toContain('records read so far rejected, the limit is 0');
  expect(error.details['rejected']).toBe(rejectsCollectedMax);
});

describe('rejects of a shop', () => {
  const columns = { id: column.integer('Id'), price: column.integer('Price'), note: column.text('Note') };
  const prices = 'prices.csv';
  let run = '';
  beforeAll(async () => {
    files.write('prices.csv', 'Id;Price;Note\n1;5;fine\n2;=x;"a, ""b""\nc"\n3;y\n4;z;=1+1\n');
    files.write('others.csv', 'Price;Id;Note\nbad;1;x\n');
    const source = (path: string) => csv(path, { delimiter: ';' });
    const pipeline = definePipeline({
      name: 'shop',
      schema: 'shop',
      tables: {
        price: { source: source(prices), columns, rejectLimit: '100%' },
        two: { source: csv([prices, 'others.csv'], { delimiter: ';' }), columns, rejectLimit: '100%' },
      },
    });
    run = String((await runPipeline(pipeline)).runId);
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
    expect((await etl('export', run, '--table', 'price', '--bom', '-o', '-')).out).toBe(`\ufeff${expected}`);
    const none = await etl('export', '--table', 'price', '--file', 'no.csv');
    expect(none).toEqual({ exit: 0, out: '', err: 'no rejects\n' });
    const json = await etl('export', run, '--table', 'two', '--file', prices, '-o', 'two.csv', '--json');
    expect(JSON.parse(json.out)).toEqual({
      runId: Number(run),
      table: 'two',
      output: 'two.csv',
      corrected: 0,
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
});

describe('corrections', () => {
  const content = 'Id;Price;Note\n1;5;fine\n2;x;a\n3;y\n4;z;skip\n5;w;late\n';
  type Staging = 'typed' | 'none' | 'text';
  const shop = (name: string, more: object = {}, staging: Staging = 'typed'): Pipeline =>
    definePipeline({
      name,
      schema: name,
      tables: {
        price: {
          source: csv(`${name}.csv`, { delimiter: ';', nulls: ['', '-'] }),
          staging,
          columns: {
            id: column.integer('Id'),
            price: (name.endsWith('of') ? column.of('int4', 'Price') : column.integer('Price')).nullable(),
            note: column.text('Note').nullable(),
          },
          filter: when(({ Note }) => Note !== 'skip', ['Note']),
          primaryKey: ['id'],
          ...more,
        },
        total: {
          from: ['price'],
          transform: sqlFile(
            files.write('total.sql', 'select count(*) as n, sum(price) as price from price'),
          ),
        },
      },
    } as never) as Pipeline;

  const tablesOf = async (name: string): Promise<unknown> => ({
    price: await rowsOf(`select * from ${name}.price order by id`),
    total: (await rowsOf(`select n::int, price::int from ${name}.total`))[0],
  });
  const countsOf = async (name: string): Promise<unknown> =>
    (
      await rowsOf(
        `select sum(c.records)::int as records, sum(copied)::int as copied, sum(rejected)::int as rejected, sum(filtered)::int as filtered
          from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id and c.epoch = r.epoch
          where r.id = (select max(id) from etl.run where pipeline = '${name}')`,
      )
    )[0];
  const kept = (name: string) => one(`select count(*)::int from etl.correction where pipeline = '${name}'`);

  /** The export of the newest run with `edits` in its fields, by line of the source file; null deletes the record. */
  const corrected = async (name: string, edits: Readonly<Record<number, string | null>>): Promise<string> => {
    const { out } = await etl('export', '--pipeline', name);
    const lines = out.split('\r\n').flatMap((line) => {
      const [, before, number] = /^((?:[^,]*,){3}(\d+),\d+,(?:"(?:[^"]|"")*"|[^,]*)),/.exec(line) ?? [];
      const edit = number === undefined ? undefined : edits[Number(number)];
      return edit === null ? [] : edit === undefined ? line : `${before},,${edit}`;
    });
    return files.write(`${name}_corrected.csv`, lines.join('\r\n'));
  };

  const good = { 3: '2,20,a', 4: '3,30,"b, c"', 5: '4,40,skip', 6: '5,-,late' };
  const whole = {
    price: [
      { id: 1, price: 5, note: 'fine' },
      { id: 2, price: 20, note: 'a' },
      { id: 3, price: 30, note: 'b, c' },
      { id: 5, price: null, note: 'late' },
    ],
    total: { n: 4, price: 55 },
  };

  it.each([
    { name: 'typed', staging: 'typed' },
    { name: 'direct', staging: 'none' },
  ] as const)(
    '$name: a run over its limit goes on with the corrected records, and only those',
    async (given) => {
      const { name, staging } = given;
      files.write(`${name}.csv`, content);
      const stopped = await failureOf(runPipeline(shop(name, {}, staging)));
      expect(stopped).toMatchObject({ code: 'ETL_REJECT_LIMIT', details: { rejected: 3, records: 5 } });
      // The filter left out the fourth record before its price was looked at.
      expect(await countsOf(name)).toEqual({ records: 5, copied: 1, rejected: 3, filtered: 1 });
      const path = await corrected(name, { ...good, 4: '3,30,skip' });
      expect(await etl('replay', path)).toMatchObject({
        exit: 0,
        out: `3 corrected records of table price, run ${stopped.run}\nThe next run of pipeline ${name} loads them.\n`,
      });
      const result = await runPipeline(shop(name, {}, staging));
      expect(result).toMatchObject({ runId: stopped.run, outcome: 'published' });
      expect(notices).toContain('table price: corrections of rejected records: 2 copied, 1 filtered');
      expect(await countsOf(name)).toEqual({ records: 5, copied: 3, rejected: 0, filtered: 2 });
      expect(await tablesOf(name)).toEqual({
        price: whole.price.filter(({ id }) => id !== 3),
        total: { n: 3, price: 25 },
      });
    },
  );

  it('of a published run make another run, which the same file again does not; nothing flips back', async () => {
    const name = 'tolerant';
    files.write(`${name}.csv`, content);
    const first = await runPipeline(shop(name, { rejectLimit: 10 }));
    const path = await corrected(name, good);
    expect(JSON.parse((await etl('replay', path, '--json')).out)).toEqual({
      runId: first.runId,
      pipeline: name,
      table: 'price',
      corrections: 3,
      added: 3,
      uncorrected: 0,
    });
    const meanwhile: unknown[] = [];
    const before = async (): Promise<void> => void meanwhile.push(await etl('replay', path));
    const busy = { ...shop(name, { rejectLimit: 10 }), hooks: { before, timeoutMs: 10_000 } };
    const second = await runPipeline(busy);
    expect(second).toMatchObject({
      outcome: 'published',
      tables: [{ copied: 4, rejected: 0, filtered: 1 }, {}],
    });
    expect(meanwhile).toEqual([
      { exit: 1, out: '', err: expect.stringMatching(/^error ETL_RUN_LOCKED: .*tolerant/) },
    ]);
    expect(await tablesOf(name)).toEqual(whole);
    expect((await etl('replay', path)).out).toContain(', 3 of them stored before\n');
    expect(await runPipeline(shop(name, { rejectLimit: 10 }))).toMatchObject({
      outcome: 'unchanged',
    });
    // The next night: everything is loaded again, under a limit that allows no reject.
    const again = await runPipeline(shop(name), { fullRefresh: true });
    expect(again).toMatchObject({
      outcome: 'published',
      tables: [{ copied: 4, rejected: 0, filtered: 1 }, {}],
    });
    expect(await tablesOf(name)).toEqual(whole);
  });

  it('show in the list, and are left out of the next export unless it is asked for them', async () => {
    const name = 'listed';
    files.write(`${name}.csv`, content);
    const { runId } = await runPipeline(shop(name, { rejectLimit: 10 }));
    const head = async () => (await etl('list', '--pipeline', name)).out.split('\n')[0]!.split('): ')[1];
    const linesOf = async (...args: string[]) =>
      (await etl(...args)).out.split('\n').filter((line) => line.includes('corrected since'));
    const exported = async (...args: string[]) => {
      const { out, err } = await etl('export', '--pipeline', name, ...args);
      return [
        [...out.matchAll(/\.csv,(\d+),/g)].map(([, line]) => line),
        err.split('\n').filter((line) => line.includes('corrected')),
      ];
    };
    expect(await head()).toBe('3 rejects');
    expect(await linesOf('list', String(runId), '--all')).toEqual([]);
    expect(await exported()).toEqual([['3', '4', '6'], []]);

    await etl('replay', await corrected(name, { 3: good[3], 4: null, 6: null }));
    const place = `${name}.csv`;
    expect(await head()).toBe('3 rejects, 1 corrected since');
    expect((await linesOf('list', String(runId), '--all')).slice(1)).toEqual([`${place}:3: corrected since`]);
    expect((await linesOf('show', `${place}:3`, String(runId))).slice(1)).toEqual(['  corrected since']);
    const json = JSON.parse((await etl('list', String(runId), '--json')).out);
    expect([json.corrected, json.rejects.map((each: { isCorrected: boolean }) => each.isCorrected)]).toEqual([
      1,
      [true, false, false],
    ]);
    const note = '1 record corrected since, left out; --corrected exports them, too';
    expect(await exported()).toEqual([['4', '6'], [note]]);
    expect(await exported('--corrected')).toEqual([['3', '4', '6'], []]);
    const exportedJson = await etl('export', '--pipeline', name, '-o', 'left_to_correct.csv', '--json');
    expect(JSON.parse(exportedJson.out)).toMatchObject({ records: 2, corrected: 1 });

    // A run has loaded it, and its reject is still that of the earlier run.
    await runPipeline(shop(name, { rejectLimit: 10 }));
    await etl('replay', await corrected(name, { 4: good[4], 6: good[6] }));
    await runPipeline(shop(name, { rejectLimit: 10 }));
    expect((await exported())[0]).toEqual([]);
    expect((await etl('list', String(runId))).out).toContain('): 3 rejects, all corrected since');
  });

  it('that is wrong is a reject again, with both places; the next file of corrections replaces it', async () => {
    const name = 'again_of';
    files.write(`${name}.csv`, content);
    const stopped = await failureOf(runPipeline(shop(name)));
    await etl('replay', await corrected(name, { 3: '2x,20,a', 4: '3,99999999999,b', 6: null }));
    const error = await failureOf(runPipeline(shop(name)));
    expect(error).toMatchObject({ code: 'ETL_REJECT_LIMIT', run: stopped.run, details: { rejected: 3 } });
    expect(error.message).toMatch(/again_of_corrected\.csv:2: "2x" is not an integer \(type, 1 record\)/);
    const { rejects } = JSON.parse((await etl('list', '--pipeline', name, '--all', '--json')).out);
    expect(rejects).toMatchObject([
      {
        line: 3,
        column: 'id',
        faults: 2,
        more: [{ column: 'price', code: 'server' }],
        raw: '2;x;a',
      },
      {
        line: 4,
        column: 'price',
        code: 'server',
        reason: expect.stringMatching(/_corrected\.csv:3: 22003 /),
        raw: '3;y',
      },
      { line: 6, faults: 1 },
    ]);
    // Another one that is refused takes the place of the one before, and is not one more fault.
    await etl('replay', await corrected(name, { 3: '2y,20,a', 4: null, 6: null }));
    await failureOf(runPipeline(shop(name)));
    const listed = JSON.parse((await etl('list', '--pipeline', name, '--all', '--json')).out);
    expect(listed.rejects[0]).toMatchObject({
      line: 3,
      reason: expect.stringContaining('"2y"') as unknown,
      faults: 2,
      more: [{ column: 'price' }],
    });
    // The export is the record of the source file again, and its fields are as hard to tell apart as before.
    const path = await corrected(name, good);
    expect((await etl('replay', path)).exit).toBe(0);
    expect(await runPipeline(shop(name))).toMatchObject({ runId: stopped.run });
    expect(await tablesOf(name)).toEqual(whole);
  });

  it('of a record that was loaded already load its table again', async () => {
    const name = 'twice';
    files.write(`${name}.csv`, content);
    const stopped = await failureOf(runPipeline(shop(name)));
    await etl('replay', await corrected(name, { ...good, 3: '2,7,wrong', 6: null }));
    await failureOf(runPipeline(shop(name)));
    const all = await corrected(name, good);
    const again = `select count(*)::int from etl.corrected x join etl.source_file f on f.id = x.file_id where run_id = ${stopped.run}`;
    expect(await one(again)).toBe(2);
    const [head, last] = readFileSync(all, 'utf8').split('\r\n');
    const before = last!.split(',').slice(0, 3).join(',');
    files.write('fix.csv', [head, `${before},3,23,,,2,20,a`, last].join('\n'));
    expect(await etl('replay', 'fix.csv')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('2 corrected records'),
    });
    expect(await runPipeline(shop(name))).toMatchObject({ outcome: 'published' });
    expect(await tablesOf(name)).toEqual(whole);
  });

  it('in numbers over every limit are loaded, also by the next night under a limit of 0', async () => {
    const name = 'many';
    const records = rejectsCollectedMax + 100;
    const lines = Array.from({ length: records }, (_, id) => `${id};x${id};n`);
    files.write(`${name}.csv`, `Id;Price;Note\n${lines.join('\n')}\n`);
    await runPipeline(shop(name, { rejectLimit: '100%', guard: false }));
    const edits = Object.fromEntries(lines.map((_, id) => [id + 2, `${id},1,n`]));
    expect((await etl('replay', await corrected(name, edits))).exit).toBe(0);
    expect(await runPipeline(shop(name))).toMatchObject({
      tables: [{ records, copied: records, rejected: 0, rows: records }, {}],
    });
  });

  it('of text staging are records of its table, too', async () => {
    const name = 'texts';
    files.write(`${name}.csv`, 'Id;Price\n1;5\n2;x;y\n3;x;y\n4;x;y\n');
    const pipeline = definePipeline({
      name,
      schema: name,
      tables: {
        price: {
          source: csv(`${name}.csv`, { delimiter: ';' }),
          staging: 'text',
          transform: sqlFile(
            files.write('price.sql', 'select "Id"::int as id, "Price" as price from price_staging'),
          ),
        },
      },
    });
    const error = await failureOf(runPipeline(pipeline));
    expect(error.code).toBe('ETL_REJECT_LIMIT');
    await etl('replay', await corrected(name, { 3: '2,"x;""y"', 4: '3,', 5: '4,\\N' }));
    expect(await runPipeline(pipeline)).toMatchObject({ runId: error.run });
    expect(await rowsOf(`select * from ${name}.price order by id`)).toEqual([
      { id: 1, price: '5' },
      { id: 2, price: 'x;"y' },
      { id: 3, price: '' },
      { id: 4, price: null },
    ]);
  });

  it('say what is null where quotes do', async () => {
    const name = 'quoted';
    files.write(`${name}.csv`, 'id,price,note\n1,"","a"\n2,x,""\n3,y,\n4,"z",-\n');
    const columns = {
      id: column.integer('id'),
      price: column.integer('price').nulls(['']).nullable(),
      note: column.text('note').nullable(),
    };
    const source = csv(`${name}.csv`, { quotedNulls: false });
    const pipeline = definePipeline({ name, schema: name, tables: { price: { source, columns } } });
    await failureOf(runPipeline(pipeline));
    const path = await corrected(name, {});
    const exported = readFileSync(path, 'utf8');
    expect(exported).toMatch(/,2,x,\r\n.*,3,y,\\N\r\n.*,4,z,-\r\n/s);
    files.write(`${name}_corrected.csv`, exported.replace(/(?<=,\d,)[xyz](?=,)/g, '7').replace('4,7', '4,'));
    await etl('replay', path);
    await runPipeline(pipeline);
    expect(await rowsOf(`select * from ${name}.price order by id`)).toEqual([
      { id: 1, price: null, note: 'a' },
      { id: 2, price: 7, note: '' },
      { id: 3, price: 7, note: null },
      { id: 4, price: null, note: '-' },
    ]);
  });

  it('of a file that has changed are refused, and not used by a run', async () => {
    const name = 'changed';
    files.write(`${name}.csv`, content);
    await runPipeline(shop(name, { rejectLimit: 10 }));
    const path = await corrected(name, good);
    await etl('replay', path);
    files.write(`${name}.csv`, content.replace('2;x;a', '2;9;a'));
    const { exit, err } = await etl('replay', path);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringContaining(`${name}.csv has changed since run `),
    });
    await runPipeline(shop(name, { rejectLimit: 10 }));
    expect(notices).toContainEqual(
      expect.stringMatching(
        /changed\.csv has changed since 3 records of it were corrected: the corrections are not used$/,
      ),
    );
    expect(await tablesOf(name)).toMatchObject({ total: { n: 2, price: 14 } });
    await runPipeline(shop(name, { rejectLimit: 10 }), { fullRefresh: true });
    expect(notices).toEqual([]);
  });

  it('are withdrawn before a run has loaded one of them, and not after', async () => {
    const name = 'back';
    files.write(`${name}.csv`, content);
    const tolerant = shop(name, { rejectLimit: 10 });
    const { runId } = await runPipeline(tolerant);
    const path = await corrected(name, good);
    const [head = '', first = '', ...others] = readFileSync(path, 'utf8').split('\r\n');
    const [only, two] = [files.write('one.csv', `${head}\n${first}`), [head, ...others].join('\n')];

    await etl('replay', path);
    expect(await etl('withdraw', path)).toEqual({
      exit: 0,
      out: `3 corrections of table price, run ${runId}, withdrawn\n`,
      err: '',
    });
    expect(await kept(name)).toBe(0);
    expect(await runPipeline(tolerant)).toMatchObject({ outcome: 'unchanged' });

    await etl('replay', only);
    const second = await runPipeline(tolerant);
    expect(second).toMatchObject({ outcome: 'published', tables: [{ rejected: 2 }, {}] });
    await etl('replay', path);
    const { exit, err } = await etl('withdraw', path);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringContaining(
        `back_corrected.csv:2: run ${second.runId} has loaded the correction of this record`,
      ),
    });
    expect(await kept(name)).toBe(3);
    expect((await etl('withdraw', files.write('two.csv', two))).out).toContain('2 corrections of table');
    expect(JSON.parse((await etl('withdraw', 'two.csv', '--json')).out)).toEqual({
      runId,
      pipeline: name,
      table: 'price',
      records: 2,
      withdrawn: 0,
    });
    expect(await runPipeline(tolerant)).toMatchObject({ outcome: 'unchanged' });
    expect(await kept(name)).toBe(1);
  });

  it('of an appended file are loaded with all of it, and are not withdrawn after later runs either', async () => {
    const name = 'nightly';
    const write = (night: string, ids: readonly number[]) =>
      files.write(
        `${name}/${night}.csv`,
        ['Id;Price;Note', ...ids.map((id) => `${id};${id}0;x`), '7;x;bad', ''].join('\n'),
      );
    const source = csv(`${name}/*.csv`, { delimiter: ';', nulls: ['', '-'] });
    const publish = { mode: 'append', changed: 'reload' };
    const appended = shop(name, { source, publish, rejectLimit: 10, guard: false });
    const ids = () => rowsOf(`select id, price from ${name}.price order by id`);
    // Of an hour ago: its listing alone shows that it has not changed.
    const anHourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(write('01', [1, 2]), anHourAgo, anHourAgo);
    await runPipeline(appended);
    const path = await corrected(name, { 4: '7,70,good' });
    await etl('replay', path);
    const second = await runPipeline(appended);
    expect(second).toMatchObject({ tables: [{ strategy: 'append', files: 1, rowsBefore: 2, rows: 3 }, {}] });
    const rows = [
      { id: 1, price: 10 },
      { id: 2, price: 20 },
      { id: 7, price: 70 },
    ];
    expect(await ids()).toEqual(rows);
    write('02', [3]);
    await runPipeline(appended);
    expect(await ids()).toEqual(rows.toSpliced(2, 0, { id: 3, price: 30 }));
    expect(await etl('withdraw', path)).toMatchObject({
      exit: 2,
      err: expect.stringContaining(`run ${second.runId} has loaded the correction of this record`) as unknown,
    });
    expect(await runPipeline(appended)).toMatchObject({ outcome: 'unchanged' });
  });

  describe('that cannot be read', () => {
    const name = 'wrong';
    let head = '';
    let place = '';
    beforeAll(async () => {
      files.write(`${name}.csv`, content);
      const { runId } = await runPipeline(shop(name, { rejectLimit: 10 }));
      head = '_run,_table,_file,_line,_byte,_reason,_record,Id,Price,Note';
      place = `${runId},price,${name}.csv,3`;
    });

    it.each([
      { of: 'no head', text: () => 'a,b\n', says: ':1: it does not have the columns of an export' },
      {
        of: 'a head without a place',
        text: () => `${head.replace('_byte,', '')}\n${place},,,2,20,a\n`,
        says: ':1: it has no column _byte',
      },
      { of: 'another run', text: () => `${head}\n99,price,a.csv,1,1,,,1,2,3\n`, says: 'there is no run 99' },
      { of: 'another byte', text: () => `${head}\n${place},24,,,2,20,a\n`, says: ':2: run ' },
      {
        of: 'another file',
        text: () => `${head}\n${place.replace('wrong', 'x')},23,,,2,20,a\n`,
        says: 'has loaded no file',
      },
      {
        of: 'fewer fields',
        text: () => `${head}\n${place},23,,,2,20\n`,
        says: ':2: it has 9 fields, the first line 10\n  Excel leaves out empty fields',
      },
      {
        of: 'other columns',
        text: () => `${head.replace('Note', 'X')}\n${place},23,,,2,20,a\n`,
        says: ':1: its columns are not those of',
      },
      {
        of: 'two tables',
        text: () => `${head}\n${place},23,,,2,20,a\n${place.replace('price', 'p')},23,,,2,20,a\n`,
        says: ':3: it belongs to another run or table',
      },
      { of: 'a quote', text: () => `${head}\n${place},23,,,2,20,"a\n`, says: ':2: a quote is' },
      {
        of: 'no UTF-8',
        text: () => Buffer.from(`${head}\n${place},23,,,2,20,\xff\n`, 'latin1'),
        says: ':2: it is not UTF-8 text',
      },
      { of: 'nothing', text: () => '', says: ':1: it is empty' },
      { of: 'no records', text: () => `${head}\n,,,,,,,,,\n`, says: ':1: it has no records' },
    ])('$of', async ({ text, says }) => {
      files.write('unread.csv', text());
      const { exit, err } = await etl('replay', 'unread.csv');
      expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(says) });
      expect(await kept(name)).toBe(0);
    });

    const uncorrected = (): string => `${place.slice(0, -1)}4,29,,"3;y",,,`;
    const both = (): string => `${head}\r\n${place},23,,,2,20,"a;b"\r\n${uncorrected()}\r\n`;

    it.each([
      {
        way: 'byte order mark, semicolons, blank rows',
        text: () => `\ufeff${both()},,,,,,,,,\r\n`.replaceAll(/,/g, ';'),
      },
      {
        way: 'tabs, every field in quotes',
        text: () =>
          both()
            .replace(/"a;b"/, 'a;b')
            .replace(/"3;y"/, '3;y')
            .replace(/[^,\r\n]*/g, (field) => (field === '' ? '' : `"${field}"`))
            .replaceAll(',', '\t'),
      },
      { way: 'the line ends of an old Macintosh', text: () => both().replaceAll('\r\n', '\r') },
      { way: 'empty columns at the end', text: () => both().replaceAll('\r\n', ',,\r\n') },
      {
        way: 'columns in another order, those left out that only help a person',
        text: () =>
          `Note;_record;_file;_byte;Id;Price;_table;_run\n"a;b";;${place.split(',')[2]};23;2;20;price;${place.split(',')[0]}\n;3;${place.split(',')[2]};29;;;price;${place.split(',')[0]}\n`,
      },
    ])('but may be written by a spreadsheet, with some uncorrected: $way', async ({ text }) => {
      files.write('spreadsheet.csv', text());
      expect(await etl('replay', 'spreadsheet.csv')).toMatchObject({
        exit: 0,
        out: expect.stringContaining(
          '\n1 record not corrected: fill in the fields and clear the column _record\n',
        ),
      });
      const fields = `select fields from etl.correction where pipeline = '${name}'`;
      expect(await rowsOf(fields)).toEqual([{ fields: ['2', '20', 'a;b'] }]);
      await etl('withdraw', 'spreadsheet.csv');
    });
  });
});
