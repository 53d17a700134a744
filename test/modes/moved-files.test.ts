// Files that are moved or renamed after they were loaded are the same files; copies of files are refused, unless both are meant.

import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  listFiles,
  path,
  range,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { main } from '../../src/cli/main.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { zipFile } from '../helpers/zip-file.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const { files, database, notices, rowsOf, textOf, run, settings, startOver } = usePipelineRuns();

const at = (name: string): string => join(files.directory, name);
/** Writes a file of sales: `1:5` is number 1, of 5 pieces. */
const write = (name: string, ...sales: string[]): void =>
  void files.write(
    name,
    ['id,day,pieces', ...sales.map((sale) => sale.replace(':', ',2024-01-05,')), ''].join('\n'),
  );
const move = (from: string, to: string): void => {
  mkdirSync(dirname(at(to)), { recursive: true });
  renameSync(at(from), at(to));
};

const columns = {
  id: column.integer('id'),
  day: column.date('day'),
  pieces: column.integer('pieces'),
};
const keeping = { mode: 'append', changed: 'reload' };
const shop = (publish: unknown, change: object = {}): Pipeline =>
  definePipeline({
    name: 'moving',
    schema: 'moving',
    tables: {
      sale: {
        source: csv('in/**/*.csv'),
        columns,
        publish: publish as 'append',
        guard: false,
        lineage: ['_file'],
        ...change,
      },
    },
  });
const keyed = { primaryKey: ['id'] };
/** Rows, with the file of each as the file state knows it. */
const sales = () =>
  textOf(`select string_agg(s.id || ':' || s.pieces || ' ' || p.name, ', ' order by s.id, s.pieces, p.name)
    from moving.sale s left join etl.published_file p on p.file_id = s._file`);
const states = async (given: Pipeline): Promise<readonly string[]> =>
  (await listFiles(given, settings())).map(({ file, state }) => `${file} ${state}`);
const said = (names: string, count = '1 file'): string =>
  `sale: files were moved or renamed since they were loaded, and their rows are kept: ${count}: ${names}`;

beforeEach(async () => {
  await startOver('moving');
  write('in/a.csv', '1:5', '2:6');
  write('in/b.csv', '3:7');
});

const modes: Readonly<Record<string, Pipeline>> = {
  append: shop('append'),
  'append that reloads and unloads': shop({ mode: 'append', changed: 'reload', gone: 'unload' }),
  merge: shop('merge', keyed),
  history: shop({ mode: 'history', from: 'since', to: 'until' }, keyed),
  'replaced partitions': shop({ mode: 'replace', only: 'touched' }, { partitionBy: range('day', 'month') }),
};

describe.each(Object.entries(modes))('%s', (_, given) => {
  it('follows a file that was moved, and its rows stay', async () => {
    const first = await run(given);
    move('in/a.csv', 'in/done/a.csv');
    expect(await states(given)).toEqual(['in/b.csv in production', 'in/done/a.csv moved']);
    expect(await run(given)).toMatchObject({ outcome: 'unchanged', runId: first.runId });
    expect(notices).toEqual([said('in/a.csv → in/done/a.csv')]);
    expect(await sales()).toBe('1:5 in/done/a.csv, 2:6 in/done/a.csv, 3:7 in/b.csv');
    expect(await states(given)).toEqual(['in/b.csv in production', 'in/done/a.csv in production']);
    // The run that loaded it knows it by the name that it had.
    expect(await rowsOf('select name from etl.source_file order by ordinal')).toEqual([
      { name: 'in/a.csv' },
      { name: 'in/b.csv' },
    ]);
    expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
    expect(notices).toEqual([]);
  });

  it('follows a file that was moved again and again, beside a new one under its first name', async () => {
    await run(given);
    move('in/a.csv', 'in/a.1.csv');
    await run(given);
    move('in/a.1.csv', 'in/a.2.csv');
    write('in/a.csv', '4:8');
    expect(await states(given)).toEqual(['in/a.2.csv moved', 'in/a.csv new', 'in/b.csv in production']);
    expect(await run(given)).toMatchObject({ outcome: 'published', tables: [{ files: 1, copied: 1 }] });
    expect(await sales()).toBe('1:5 in/a.2.csv, 2:6 in/a.2.csv, 3:7 in/b.csv, 4:8 in/a.csv');
    // As programs rotate their logs, in one night.
    move('in/a.2.csv', 'in/a.3.csv');
    move('in/a.csv', 'in/a.2.csv');
    write('in/a.csv', '5:9');
    expect(await run(given)).toMatchObject({ tables: [{ files: 1, copied: 1 }] });
    expect(notices).toContain(said('in/a.csv → in/a.2.csv, in/a.2.csv → in/a.3.csv', '2 files'));
    expect(await sales()).toBe('1:5 in/a.3.csv, 2:6 in/a.3.csv, 3:7 in/b.csv, 4:8 in/a.2.csv, 5:9 in/a.csv');
  });

  it('follows two files that have swapped their names', async () => {
    await run(given);
    move('in/a.csv', 'in/c');
    move('in/b.csv', 'in/a.csv');
    move('in/c', 'in/b.csv');
    expect(await states(given)).toEqual(['in/a.csv moved', 'in/b.csv moved']);
    expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
    expect(await sales()).toBe('1:5 in/b.csv, 2:6 in/b.csv, 3:7 in/a.csv');
    expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
    expect(notices).toEqual([]);
  });

  it('refuses a copy, whose original is in production or new as well', async () => {
    await run(given);
    const before = await sales();
    const refused = async (text: string): Promise<void> =>
      expect(await failureOf(run(given))).toMatchObject({
        code: 'ETL_FILE_COPY',
        message: expect.stringContaining(`1 file: ${text}; nothing was loaded`),
      });
    copyFileSync(at('in/a.csv'), at('in/d.csv'));
    await refused('in/d.csv of in/a.csv, which is in production');
    expect(await states(given)).toContain('in/d.csv copy');
    rmSync(at('in/d.csv'));
    write('in/d.csv', '4:8');
    copyFileSync(at('in/d.csv'), at('in/e.csv'));
    await refused('in/e.csv of in/d.csv');
    expect(await sales()).toBe(before);
    // Header lines alone are no records.
    for (const name of ['d', 'e']) write(`in/${name}.csv`);
    expect(await run(given)).toMatchObject({ outcome: 'published' });
  });
});

it('of a copy whose original is gone it is said that its rows are there', async () => {
  await run(shop('append'));
  copyFileSync(at('in/a.csv'), at('in/d.csv'));
  rmSync(at('in/a.csv'));
  expect(await failureOf(run(shop('append')))).toMatchObject({
    code: 'ETL_FILE_COPY',
    details: {
      files: '1 file: in/d.csv of in/a.csv, which is no longer listed, and whose rows are in production',
    },
  });
  expect(await states(shop('append'))).toEqual(['in/b.csv in production', 'in/d.csv copy', 'in/a.csv gone']);
  expect(await states(shop({ ...keeping, gone: 'unload' }))).toContain('in/d.csv new');
});

describe('a file that is compressed after it was loaded, or no longer compressed', () => {
  const source = csv('in/**/*.csv{,.gz}');
  const compress = (name: string): void => {
    files.write(`${name}.gz`, gzipSync(readFileSync(at(name))));
    rmSync(at(name));
  };

  it.each([
    ['appended', 'append', {}],
    ['merged', 'merge', keyed],
    [
      'and whose path is in its rows',
      'append',
      { columns: { ...columns, dir: column.text(path(/^(\w+)/)) } },
    ],
  ])('stops the run: %s', async (_, publish, change) => {
    const given = shop(publish, { source, ...change });
    await run(given);
    compress('in/a.csv');
    const because =
      'which is no longer listed, and whose rows are in production (same name, other compression)';
    expect(await failureOf(run(given))).toMatchObject({
      code: 'ETL_FILE_COPY',
      details: { files: `1 file: in/a.csv.gz of in/a.csv, ${because}` },
      hint: expect.stringContaining("copies: 'load'"),
    });
    expect(await states(given)).toEqual(['in/a.csv.gz copy', 'in/b.csv in production', 'in/a.csv gone']);
    const allowed = shop(publish, { source, ...change, copies: 'load' });
    expect(await run(allowed)).toMatchObject({ tables: [{ files: 1, copied: 2 }] });
    // They are two files by now.
    write('in/a.csv', '1:5', '2:6');
    expect(await states(given)).not.toContain('in/a.csv copy');
  });

  it('is loaded where the rows of the other one leave', async () => {
    const given = shop({ ...keeping, gone: 'unload' }, { source });
    await run(given);
    compress('in/a.csv');
    await run(given);
    expect(await sales()).toBe('1:5 in/a.csv.gz, 2:6 in/a.csv.gz, 3:7 in/b.csv');
    files.write('in/a.csv', gunzipSync(readFileSync(at('in/a.csv.gz'))));
    expect(await failureOf(run(given))).toMatchObject({
      message: expect.stringContaining('in/a.csv of in/a.csv.gz, which is in production (same name'),
    });
    rmSync(at('in/a.csv.gz'));
    await run(given);
    expect(await sales()).toBe('1:5 in/a.csv, 2:6 in/a.csv, 3:7 in/b.csv');
  });

  it('is loaded where another file has come under its name, or it was taken out', async () => {
    const given = shop(keeping, { source });
    await run(given);
    compress('in/a.csv');
    write('in/a.csv', '4:8');
    await run(given);
    expect(await sales()).toBe('1:5 in/a.csv.gz, 2:6 in/a.csv.gz, 3:7 in/b.csv, 4:8 in/a.csv');
    compress('in/b.csv');
    await run(given, { unload: ['in/b.csv'] });
    expect(await sales()).toBe('1:5 in/a.csv.gz, 2:6 in/a.csv.gz, 3:7 in/b.csv.gz, 4:8 in/a.csv');
    // It has another name by now.
    move('in/a.csv', 'in/c.csv');
    files.write('in/c.csv.gz', gzipSync('id,day,pieces\n7,2024-01-05,7\n'));
    expect((await states(given)).filter((one) => one.startsWith('in/c'))).toEqual([
      'in/c.csv moved',
      'in/c.csv.gz new',
    ]);
  });
});

it('copies are loaded if the table allows it, and a file that was moved is still followed', async () => {
  const given = shop(keeping, { copies: 'load' });
  await run(given);
  copyFileSync(at('in/b.csv'), at('in/c.csv'));
  move('in/a.csv', 'in/z.csv');
  expect(await run(given)).toMatchObject({ tables: [{ files: 1, copied: 1 }] });
  expect(await sales()).toBe('1:5 in/z.csv, 2:6 in/z.csv, 3:7 in/b.csv, 3:7 in/c.csv');
});

it('a run that replaces all rows refuses copies, too, and needs no memory of names', async () => {
  const given = shop('replace');
  await run(given);
  move('in/a.csv', 'in/z.csv');
  expect(await states(given)).toEqual(['in/b.csv in production', 'in/z.csv new', 'in/a.csv gone']);
  expect(await run(given)).toMatchObject({ outcome: 'published', tables: [{ files: 2, rows: 3 }] });
  copyFileSync(at('in/b.csv'), at('in/c.csv'));
  expect((await failureOf(run(given))).code).toBe('ETL_FILE_COPY');
});

it('a file that was taken out stays out when it is moved, and is asked for by either name', async () => {
  const given = shop(keeping);
  await run(given);
  await run(given, { unload: ['in/a.csv'] });
  move('in/a.csv', 'in/z.csv');
  expect(await states(given)).toEqual(['in/b.csv in production', 'in/z.csv unloaded']);
  expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
  expect(await sales()).toBe('3:7 in/b.csv');
  move('in/z.csv', 'in/y.csv');
  await run(given, { reload: ['in/z.csv'] });
  expect(await sales()).toBe('1:5 in/y.csv, 2:6 in/y.csv, 3:7 in/b.csv');
  move('in/b.csv', 'in/x.csv');
  await run(given, { unload: ['in/x.csv'] });
  expect(await sales()).toBe('1:5 in/y.csv, 2:6 in/y.csv');
  expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
});

describe('a file that was moved over another one', () => {
  const overwrite = (): void => {
    move('in/a.csv', 'in/c.csv');
    move('in/b.csv', 'in/a.csv');
  };

  it('has changed, so that the run stops', async () => {
    await run(shop('append'));
    rmSync(at('in/a.csv'));
    move('in/b.csv', 'in/a.csv');
    const source = csv('in/**/*.csv', { onBadFile: 'stop' });
    expect(await failureOf(run(shop('append', { source })))).toMatchObject({
      code: 'ETL_FILE_CHANGED',
      details: { files: '1 file: in/a.csv' },
    });
  });

  it('is loaded again under its name, and its rows are there once', async () => {
    write('in/c.csv', '9:9');
    await run(shop(keeping));
    overwrite();
    expect(await run(shop(keeping))).toMatchObject({ tables: [{ files: 2, copied: 3 }] });
    expect(await sales()).toBe('1:5 in/c.csv, 2:6 in/c.csv, 3:7 in/a.csv');
    expect(await run(shop(keeping))).toMatchObject({ outcome: 'unchanged' });
  });

  it('is left as it was loaded, where changed files are', async () => {
    const given = shop({ mode: 'append', changed: 'ignore' });
    write('in/c.csv', '9:9');
    await run(given);
    overwrite();
    expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
    expect(await sales()).toBe('1:5 in/a.csv, 2:6 in/a.csv, 3:7 in/b.csv, 9:9 in/c.csv');
  });
});

it('a file whose path gives its rows other values now has changed', async () => {
  const given = (changed: string): Pipeline =>
    shop(
      { mode: 'append', changed },
      {
        columns: { ...columns, state: column.text(path(/in\/(\w+)\//)) },
        source: csv('in/*/*.csv', { onBadFile: 'stop' }),
      },
    );
  write('in/new/c.csv', '4:8');
  await run(given('error'));
  move('in/new/c.csv', 'in/new/d.csv');
  expect(await run(given('error'))).toMatchObject({ outcome: 'unchanged' });
  move('in/new/d.csv', 'in/old/d.csv');
  expect(await failureOf(run(given('error')))).toMatchObject({
    code: 'ETL_FILE_CHANGED',
    details: { files: '1 file: in/old/d.csv (in/new/d.csv, whose path has other values)' },
  });
  await run(given('reload'));
  expect(await rowsOf('select id, state from moving.sale')).toEqual([{ id: 4, state: 'old' }]);
});

it('members of an archive are followed with it, and a copy of it is refused', async () => {
  const given = shop('append', { source: csv('in/**/*.zip!/*.csv') });
  const content = (id: number): string => `id,day,pieces\n${id},2024-01-05,1\n`;
  files.write(
    'in/a.zip',
    zipFile([
      { name: 'x.csv', content: content(1) },
      { name: 'y.csv', content: content(2) },
    ]),
  );
  await run(given);
  move('in/a.zip', 'in/done/a.zip');
  expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
  expect(await sales()).toBe('1:1 in/done/a.zip!/x.csv, 2:1 in/done/a.zip!/y.csv');
  copyFileSync(at('in/done/a.zip'), at('in/a.zip'));
  expect(await failureOf(run(given))).toMatchObject({
    code: 'ETL_FILE_COPY',
    message: expect.stringContaining('2 files: in/a.zip!/x.csv of in/done/a.zip!/x.csv'),
  });
});

it('a file that is moved while its run is unfinished is loaded once', async () => {
  write('in/c.csv', '4:8', 'x:y');
  const strict = shop('append', { rejectLimit: 0 });
  const lenient = shop('append', { rejectLimit: 5 });
  expect((await failureOf(run(strict))).code).toBe('ETL_REJECT_LIMIT');
  move('in/a.csv', 'in/done/a.csv');
  await run(lenient);
  expect(await sales()).toBe('1:5 in/done/a.csv, 2:6 in/done/a.csv, 3:7 in/b.csv, 4:8 in/c.csv');
  // A file in production is followed by a run that fails later, too, and by the one that continues it.
  write('in/d.csv', '5:5', 'x:y');
  move('in/b.csv', 'in/done/b.csv');
  expect((await failureOf(run(strict))).code).toBe('ETL_REJECT_LIMIT');
  move('in/done/b.csv', 'in/b.csv');
  await run(lenient);
  expect(await sales()).toBe(
    '1:5 in/done/a.csv, 2:6 in/done/a.csv, 3:7 in/b.csv, 4:8 in/c.csv, 5:5 in/d.csv',
  );
});

it('corrections of a file follow it, those that come before its move and those that come after it', async () => {
  const given = shop(keeping, { rejectLimit: 5 });
  write('in/c.csv', '4:8', 'x:9', 'y:9');
  const { runId } = await run(given);
  const rejects = async (...args: string[]): Promise<string> => {
    const io = fakeIo({ env: { DATABASE_URL: database.url }, workingDirectory: files.directory });
    expect(await main(['rejects', ...args], io), io.stderr.text).toBe(0);
    return io.stdout.text;
  };
  const exported = await rejects('export', String(runId));
  const [header, one, other] = exported.trimEnd().split(/\r?\n/);
  files.write('one.csv', `${header}\r\n${one!.replace(',x,', ',5,')}\r\n`);
  files.write('other.csv', `${header}\r\n${other!.replace(',y,', ',6,')}\r\n`);
  await rejects('replay', 'one.csv');
  move('in/c.csv', 'in/done/c.csv');
  await run(given);
  expect(await sales()).toContain('4:8 in/done/c.csv, 5:9 in/done/c.csv');
  move('in/done/c.csv', 'in/c.csv');
  expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
  await rejects('replay', 'other.csv');
  await run(given);
  expect(await sales()).toContain('4:8 in/c.csv, 5:9 in/c.csv, 6:9 in/c.csv');
});

it('a full refresh of files that were moved loses no rows, and verify reads them under their names', async () => {
  const given = shop('append');
  await run(given);
  move('in/a.csv', 'in/done/a.csv');
  const verified = async (): Promise<unknown> => {
    const { directory } = files;
    const options = { databaseUrl: database.url, directory, workingDirectory: directory };
    const [table] = (await verifyPipeline(given, options)).tables;
    return [table!.outcome, table!.files.length];
  };
  expect(await verified()).toEqual(['same', 2]);
  expect(await run(given, { fullRefresh: true })).toMatchObject({ tables: [{ files: 2, rows: 3 }] });
  expect(await verified()).toEqual(['same', 2]);
  expect(await sales()).toBe('1:5 in/done/a.csv, 2:6 in/done/a.csv, 3:7 in/b.csv');
});

it('a file that was moved and has another time is a copy, unless the rows of the first leave', async () => {
  await run(shop('append'));
  move('in/a.csv', 'in/z.csv');
  utimesSync(at('in/z.csv'), 1, 1);
  expect((await failureOf(run(shop('append')))).code).toBe('ETL_FILE_COPY');
  await run(shop({ ...keeping, gone: 'unload' }));
  expect(await sales()).toBe('1:5 in/z.csv, 2:6 in/z.csv, 3:7 in/b.csv');
});
