// Broken records in a real file: each is found, named, and decides with the limit whether the rest is published.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, type Pipeline } from '../../src/index.ts';
import type { EtlError } from '../../src/core/errors/errors.ts';
import { main } from '../../src/cli/main.ts';
import { rejectsCollectedMax } from '../../src/core/limits.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

const { files, database, etl: anyCommand } = usePipelineRuns();

const lines = readFileSync('data/noaa/201101hourly.txt', 'latin1').trimEnd().split('\n');
const records = lines.length - 1;

/** Replaces one field (by header) of a line. */
const withField = (line: string, header: string, value: string): string => {
  const fields = line.split(',');
  fields[lines[0]!.split(',').indexOf(header)] = value;
  return fields.join(',');
};

/** Line number in the file -> how it is broken. */
const breaks: Readonly<Record<number, (line: string) => string>> = {
  11: (line) => withField(line, 'DryBulbCelsius', '1x.6'),
  101: (line) => withField(line, 'Date', '20110230'),
  201: (line) => line.split(',').slice(0, 42).join(','),
  301: (line) => `${line},extra`,
  401: (line) => withField(line, 'SkyCondition', 'CLR\xff\xfe'),
  501: (line) => withField(line, 'WeatherType', 'R\0A'),
};

const broken = lines.map((line, index) => breaks[index + 1]?.(line) ?? line);
const path = files.write('broken_hourly.txt', Buffer.from(`${broken.join('\n')}\n`, 'latin1'));

const pipeline = (rejectLimit: number | `${number}%`, name: string): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      observation: {
        source: csv(path, { trim: true, nulls: ['', 'M', 'null'] }),
        columns: {
          wban: column.text('WBAN'),
          observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
          sky_condition: column.text('SkyCondition').nullable(),
          weather: column.text('WeatherType').nullable(),
          dry_bulb_c: column.real('DryBulbCelsius').nullable(),
        },
        primaryKey: ['wban', 'observed_at'],
        rejectLimit,
      },
    },
  });

const offsetOfLine = (line: number): number => broken.slice(0, line - 1).join('\n').length + 1;

const expectedRejects = [
  { line: 11, column_name: 'dry_bulb_c', code: 'type' },
  { line: 101, column_name: 'observed_at', code: 'range' },
  { line: 201, column_name: null, code: 'field_count' },
  { line: 301, column_name: null, code: 'field_count' },
  { line: 401, column_name: 'sky_condition', code: 'invalid_utf8' },
  { line: 501, column_name: 'weather', code: 'nul_byte' },
].map((reject) => ({ ...reject, byte: offsetOfLine(reject.line), record: reject.line - 1, name: path }));

const rejectsOf = async (run: unknown): Promise<unknown[]> =>
  (
    await database.query(
      `select r.line::int, r.column_name, r.code, r.byte::int, r.record::int, f.name
        from etl.reject r join etl.source_file f on f.id = r.file_id where r.run_id = $1 order by r.byte`,
      [run],
    )
  ).rows;

describe('six broken records', () => {
  it('with rejectLimit 0: nothing is published, exit 3, all six are named', async () => {
    const error = await failureOf(runPipeline(pipeline(0, 'none'), { databaseUrl: database.url }));
    expect(error).toMatchObject({
      code: 'ETL_REJECT_LIMIT',
      exit: 3,
      details: { rejected: 6, records, limit: '0' },
    });
    expect(error.message).toContain(`\n  ${path}:11 dry_bulb_c: "1x.6" is not a real (type, 1 record)\n`);
    expect(error.message).toContain('2011-02-30');
    expect(await rejectsOf(error.details['run'])).toEqual(expectedRejects);
    const { rows } = await database.query(`select to_regclass('none.observation') as table`);
    expect(rows).toEqual([{ table: null }]);
    const runs = await database.query(`select state, error_code from etl.run where pipeline = 'none'`);
    expect(runs.rows).toEqual([{ state: 'failed', error_code: 'ETL_REJECT_LIMIT' }]);
  });

  it('with rejectLimit 10: the rest is published and the six are kept, text that cannot be stored written out', async () => {
    const result = await runPipeline(pipeline(10, 'ten'), { databaseUrl: database.url });
    expect(result.tables[0]).toMatchObject({ records, copied: records - 6, rejected: 6, rows: records - 6 });
    expect(await rejectsOf(result.runId)).toEqual(expectedRejects);
    const { rows } = await database.query(`select count(*)::int as n from ten.observation`);
    expect(rows).toEqual([{ n: records - 6 }]);
    const kept = await database.query(
      `select raw from etl.reject where run_id = $1 and line in (11, 401, 501) order by line`,
      [result.runId],
    );
    expect(kept.rows.map(({ raw }) => raw)).toEqual([
      broken[10],
      expect.stringContaining(String.raw`,CLR\xff\xfe,`),
      expect.stringContaining(String.raw`,R\x00A,`),
    ]);
  });

  it('over the limit: records that share a key are named with the rejects, in error, status and JSON', async () => {
    const file = files.write('shared.csv', 'id,n\n1,1\nx,1\n2,1\n1,2\n2,2\n');
    const columns = { id: column.integer('id'), n: column.integer('n') };
    const t = { source: csv(file), columns, primaryKey: ['id'] as const };
    const shared = definePipeline({ name: 'shared', schema: 'shared', tables: { t } });
    const error = await failureOf(runPipeline(shared, { databaseUrl: database.url }));
    const keys = `the primary key (id) is shared by 4 records: ${[2, 4, 5, 6].map((line, at) => `${file}:${line} (${1 + (at % 2)})`).join('; ')}`;
    expect(error.code).toBe('ETL_REJECT_LIMIT');
    expect(error.message).toMatch(/\n {2}\S+:3 id: "x" is not an integer \(type, 1 record\)\n/);
    expect(error.message).toContain(`\n  ${keys}`);
    const { rows } = await database.query(`select error from etl.run where pipeline = 'shared'`);
    expect(rows).toEqual([{ error: error.message }]);
    const summed = { ...t, publish: { mode: 'merge', twice: 'last' } };
    const merged = definePipeline({ name: 'merged', schema: 'merged', tables: { t: summed } } as never);
    const other = await failureOf(runPipeline(merged, { databaseUrl: database.url }));
    expect(other.message).not.toContain('primary key');
  });

  it.each([
    { limit: '0.5%', name: 'below', ends: 'ETL_REJECT_LIMIT' },
    { limit: '1%', name: 'above', ends: 'published' },
  ] as const)('with a rejectLimit of $limit, the run ends as $ends', async ({ limit, name, ends }) => {
    const attempt = runPipeline(pipeline(limit, name), { databaseUrl: database.url });
    expect(
      await attempt.then(
        ({ outcome }) => outcome,
        ({ code }: EtlError) => code,
      ),
    ).toBe(ends);
  });
});

describe('many records with the same faults', () => {
  const rows = (count: number): string =>
    Array.from({ length: count }, (_, index) => `k${index},x${index}`).join('\n');
  const name = 'alike';
  const alike = (): Pipeline =>
    definePipeline({
      name,
      schema: name,
      tables: {
        t: {
          source: csv(files.write('alike.csv', `id,price\n1,-3\n${rows(2_500)}\n2,5,6\n`)),
          columns: {
            id: column.integer('id'),
            price: column.integer('price').check((price) => price > 0, 'must be positive'),
          },
          rejectLimit: '10%',
        },
      },
    });

  const etl = (...args: string[]) => anyCommand('rejects', 'list', ...args);

  let error: Awaited<ReturnType<typeof failureOf>>;
  beforeAll(async () => {
    const options = { databaseUrl: database.url, workers: 1, chunkBytes: 65_536 };
    error = await failureOf(runPipeline(alike(), options));
  });

  it('are one line a kind in the error: column, code, number, first place, example', () => {
    expect(error.details).toMatchObject({ rejected: 2_502, records: 2_502 });
    const file = join(files.directory, 'alike.csv');
    expect(error.message.split('\n').slice(1)).toEqual([
      `  ${file}:3 id: "k0" is not an integer (type, 2,500 records)`,
      `  ${file}:3 price: "x0" is not an integer (type, 2,500 records)`,
      `  ${file}:2 price: "-3": must be positive (check, 1 record)`,
      `  ${file}:2503: the record has 3 fields, the header 2 (field_count, 1 record)`,
    ]);
  });

  it('are listed by kind, with the run and its pipeline', async () => {
    const { out } = await etl('--pipeline', name);
    const file = join(files.directory, 'alike.csv');
    const [head, ...shown] = out.split('\n');
    expect(head).toMatch(/^run \d+ of alike \(failed, started [-0-9: ]+\): 2,502 rejects$/);
    expect(shown).toEqual([
      `${file}:3: column id: type: "k0" is not an integer (2,500 records)`,
      '    k0,x0',
      `${file}:3: column price: type: "x0" is not an integer (2,500 records)`,
      '    k0,x0',
      `${file}:2: column price: check: "-3": must be positive (1 record)`,
      '    1,-3',
      `${file}:2503: field_count: the record has 3 fields, the header 2 (1 record)`,
      '    2,5,6',
      '--all lists every record, --limit <n> the first of them',
      '',
    ]);
  });

  it('--all lists every record once, page by page, in the order of the file, with all of its faults', async () => {
    const { out } = await etl('--pipeline', name, '--all', '--json');
    const listed = JSON.parse(out);
    expect(listed).toMatchObject({ pipeline: name, state: 'failed', total: 2_502, kindsTotal: 4 });
    expect(listed.rejects.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 2_502 }, (_, index) => index + 2),
    );
    expect(listed.rejects[1]).toMatchObject({
      column: 'id',
      code: 'type',
      faults: 2,
      more: [{ column: 'price', code: 'type', reason: '"x0" is not an integer' }],
    });
    const texts = (await etl('--pipeline', name, '--limit', '1001')).out.trimEnd().split('\n');
    expect(texts.slice(-3)).toEqual([
      expect.stringMatching(/alike.csv:1002: column id: type: "k999" is not an integer$/),
      expect.stringMatching(/alike.csv:1002: column price: type: "x999" is not an integer$/),
      '    k999,x999',
    ]);
  });

  it('are asked for in SQL as the guide says', async () => {
    const sql = /```sql\n([\s\S]*?)```/.exec(readProjectFile('docs/guide/rejects.md'))![1]!;
    const [run] = (await database.query(`select max(id) as id from etl.run where pipeline = '${name}'`)).rows;
    const [first, every] = sql.split(';');
    const asked = (query: string) => database.query(query.replaceAll('run_id = 12', `run_id = ${run!.id}`));
    expect((await asked(first!)).rows[0]).toMatchObject({ column_name: 'id', code: 'type', count: '2500' });
    expect((await asked(every!)).rows).toHaveLength(5_002);
  });

  it('a reader that goes away ends the listing', async () => {
    const io = fakeIo({ env: { DATABASE_URL: database.url } });
    let pages = 0;
    io.stdout.write = (text: string, done?: (error?: Error) => void): void => {
      if (text.includes('column id')) pages += 1;
      done?.(pages > 0 ? new Error('EPIPE') : undefined);
    };
    expect(await main(['rejects', 'list', '--pipeline', name, '--all'], io)).toBe(0);
    expect(pages).toBe(1);
  });

  it.each([
    { args: ['--pipeline', 'alik'], says: 'there is no run of a pipeline alik\n  Did you mean alike?' },
    { args: ['1', '--pipeline', name], says: 'a run number and --pipeline exclude each other' },
    { args: ['--all', '--limit', '2'], says: '--all and --limit exclude each other' },
  ])('$args is a usage error', async ({ args, says }) => {
    const { exit, err } = await etl(...args);
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(says) });
  });
});

describe('as many rejects as are collected before a run stops', () => {
  /** `rejected` records that are no numbers, and then one that is. */
  const load = (name: string, rejected: number, limits: object, ofTable: number, chunkBytes: number) => {
    const source = csv(files.write(`${name}.csv`, `id\n${'x\n'.repeat(rejected)}1\n`));
    const t = { source, columns: { id: column.integer('id') }, rejectLimit: ofTable };
    const declared = definePipeline({ name, schema: name, ...limits, tables: { t } });
    return runPipeline(declared, { databaseUrl: database.url, workers: 1, chunkBytes });
  };

  it('are published under a limit that allows exactly them, with what comes in later chunks', async () => {
    const { tables } = await load(
      'exactly',
      rejectsCollectedMax,
      {},
      rejectsCollectedMax,
      2 * rejectsCollectedMax,
    );
    expect(tables[0]).toMatchObject({ rejected: rejectsCollectedMax, rows: 1 });
    const chunks = await database.query(`select from etl.chunk c join etl.source_file f on f.id = c.file_id
      where f.name like '%exactly.csv'`);
    expect(chunks.rowCount).toBeGreaterThan(1);
  });

  it('are kept of a table that allows none, however many the run allows', async () => {
    const error = await failureOf(
      load('strict', 4 * rejectsCollectedMax, { rejectLimit: 100_000 }, 0, 100_000),
    );
    expect(error).toMatchObject({ code: 'ETL_REJECT_LIMIT', details: { rejected: rejectsCollectedMax } });
    expect(await rejectsOf(error.details['run'])).toHaveLength(rejectsCollectedMax);
  });
});

it.each([
  { rows: 'binary', delimiter: ';' },
  { rows: 'binary', delimiter: '||' },
  { rows: 'text', delimiter: ';' },
])(
  'values that break rules are rejected in $rows rows with $delimiter between fields, and those that keep them are published',
  async ({ rows: form, delimiter }) => {
    const name = `rules_${form}_${delimiter.length}`;
    const written = [
      ['1', '0', '2011-01-31', 'DE', 'ok'],
      ['2', '-0.01', '2011-01-31', 'AT', 'ok'],
      ['3', '99.50', '2011-01-30', 'DE', 'ok'],
      ['4', '99.51', '2011-02-01', 'XX', 'too long'],
      ['5', '5', '2011-02-01', 'AT', 'OK'],
      ['6', '+1e1', '2011-02-01', 'AT', 'x'],
    ];
    const head = ['id', 'price', 'day', 'country', 'note'].join(delimiter);
    const file = [head, ...written.map((record) => record.join(delimiter))].join('\n');
    const rules = definePipeline({
      name,
      schema: name,
      tables: {
        t: {
          source: csv(files.write(`${name}.csv`, `${file}\n`), { delimiter }),
          columns: {
            id: column.integer('id').min(1),
            price: column.numeric('price', { precision: 8, scale: 2 }).min(0).max('99.5'),
            day: column.date('day').min('2011-01-31'),
            country: column.varchar('country', { length: 2 }).oneOf(['AT', 'DE']),
            note: (form === 'text' ? column.of('text', 'note') : column.text('note'))
              .length({ max: 4 })
              .pattern(/^[a-z ]+$/),
          },
          rejectLimit: 10,
        },
      },
    });
    const { runId } = await runPipeline(rules, { databaseUrl: database.url });
    const rows = await database.query(`select id, price::text, country from ${name}.t order by id`);
    expect(rows.rows).toEqual([
      { id: 1, price: '0.00', country: 'DE' },
      { id: 6, price: '10.00', country: 'AT' },
    ]);
    const found = await database.query(
      `select line::int, column_name, code, reason from etl.reject where run_id = $1 order by line`,
      [runId],
    );
    expect(found.rows).toMatchObject([
      { line: 3, column_name: 'price', code: 'check', reason: '"-0.01": must be at least 0' },
      { line: 4, column_name: 'day', code: 'check', reason: '"2011-01-30": must be at least 2011-01-31' },
      { line: 5, column_name: 'price', code: 'check', reason: '"99.51": must be at most 99.5' },
      { line: 6, column_name: 'note', code: 'check', reason: '"OK": must match /^[a-z ]+$/' },
    ]);
  },
);
