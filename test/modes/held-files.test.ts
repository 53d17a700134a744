// Files that are not ready or cannot be loaded hold back only themselves; they are loaded when they are repaired.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, sqlFile } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const runs = usePipelineRuns();
const { files, run, rowsOf, textOf } = runs;

beforeEach(() => runs.startOver('arrive'));

type Options = Parameters<typeof csv>[1];
type Publish = 'replace' | 'append' | { mode: 'append'; changed?: 'reload' | 'ignore'; gone?: 'unload' };

const pipelineOf = (options: Options = {}, publish: Publish = 'append', glob = 'in/*') =>
  definePipeline({
    name: 'arrive',
    schema: 'arrive',
    tables: {
      item: {
        source: csv(glob, options),
        columns: { id: column.integer('id'), name: column.text('name') },
        publish,
      },
    },
  });

const records = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `${from + index},name ${from + index}\n`).join('');
const good = (from: number, count = 3): string => `id,name\n${records(from, count)}`;
const ids = async (): Promise<string> =>
  textOf(`select string_agg(id::text, ',' order by id) from arrive.item`);
const heldIn = ({ held = [] }: Awaited<ReturnType<typeof run>>) => held.map(({ file, code }) => [file, code]);

/** A gzip file whose last bytes are damaged. */
const damaged = (content: string): Buffer => {
  const bytes = gzipSync(content, { level: 0 });
  bytes.fill(0xff, bytes.length - 12, bytes.length - 4);
  return bytes;
};

describe('a bad file among good ones', () => {
  const bad = {
    'in/empty.csv': '',
    'in/other.csv': 'a;b\n1;2\n',
    'in/paper.csv': '%PDF-1.7\n%\n1 0 obj\n',
    'in/damaged.csv.gz': damaged(good(500, 100_000)),
  };

  it('holds back only itself, is not read again until it changes, and is loaded when it is repaired', async () => {
    files.write('in/1.csv', good(1));
    for (const [name, content] of Object.entries(bad)) files.write(name, content);
    files.write('in/9.csv', good(9));
    const first = await run(pipelineOf());
    expect(first.outcome).toBe('published');
    expect(heldIn(first)).toEqual([
      ['in/damaged.csv.gz', 'ETL_SOURCE_CORRUPT'],
      ['in/empty.csv', 'ETL_SOURCE_EMPTY'],
      ['in/other.csv', 'ETL_HEADER_MISSING'],
      ['in/paper.csv', 'ETL_SOURCE_FORMAT'],
    ]);
    expect(await ids()).toBe('1,2,3,9,10,11');
    const again = await run(pipelineOf());
    expect(again).toMatchObject({ outcome: 'unchanged', runId: first.runId, held: first.held });
    expect(await textOf('select max(id) from etl.run')).toBe(String(first.runId));
    let from = 100;
    for (const name of Object.keys(bad))
      files.write(name, name.endsWith('.gz') ? gzipSync(good((from += 100))) : good((from += 100)));
    const repaired = await run(pipelineOf());
    expect(repaired).toMatchObject({ outcome: 'published' });
    expect(repaired.held).toBeUndefined();
    expect(await textOf('select count(*) from arrive.item')).toBe('18');
    expect(await textOf('select count(*) from etl.held_file')).toBe('0');
  });

  it('that is a broken link or a pipe is named, and is loaded when there is a file', async () => {
    files.write('in/1.csv', good(1));
    symlinkSync('nowhere', `${files.directory}/in/2.csv`);
    execFileSync('mkfifo', [`${files.directory}/in/3.csv`]);
    const held = [
      ['in/2.csv', 'ETL_SOURCE_UNREADABLE'],
      ['in/3.csv', 'ETL_SOURCE_IRREGULAR'],
    ];
    expect(heldIn(await run(pipelineOf()))).toEqual(held);
    files.write('in/4.csv', good(4));
    expect(heldIn(await run(pipelineOf()))).toEqual(held);
    expect(await ids()).toBe('1,2,3,4,5,6');
    await expect(run(pipelineOf({ onBadFile: 'stop' }))).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
    });
    files.write('in/nowhere', good(20));
    rmSync(`${files.directory}/in/3.csv`);
    files.write('in/3.csv', good(30));
    expect((await run(pipelineOf({}, 'append', 'in/*.csv'))).held).toBeUndefined();
    expect(await ids()).toBe('1,2,3,4,5,6,20,21,22,30,31,32');
  });

  it('that was loaded before its link broke keeps its rows', async () => {
    const publish = { mode: 'append', changed: 'reload', gone: 'unload' } as const;
    files.write('far.csv', good(1));
    files.write('in/2.csv', good(20));
    symlinkSync('../far.csv', `${files.directory}/in/1.csv`);
    await run(pipelineOf({}, publish));
    rmSync(`${files.directory}/far.csv`);
    files.write('in/3.csv', good(30));
    expect(heldIn(await run(pipelineOf({}, publish)))).toEqual([['in/1.csv', 'ETL_SOURCE_UNREADABLE']]);
    expect(await ids()).toBe('1,2,3,20,21,22,30,31,32');
  });

  it('whose header differs, with text staging, is held back by the first of the new files', async () => {
    const texts = (options: Options = {}) =>
      definePipeline({
        name: 'arrive',
        schema: 'arrive',
        tables: {
          item: {
            source: csv('in/*', options),
            staging: 'text',
            transform: sqlFile('item.sql'),
            publish: 'append',
          },
        },
      });
    files.write('item.sql', 'select id::int as id, name from item_staging');
    files.write('in/1.csv', good(1));
    files.write('in/2.csv', 'id,name,more\n7,a,b\n');
    files.write('in/3.csv', good(4));
    await expect(run(texts({ onBadFile: 'stop' }))).rejects.toMatchObject({ code: 'ETL_HEADER_DIFFERS' });
    expect(heldIn(await run(texts()))).toEqual([['in/2.csv', 'ETL_HEADER_DIFFERS']]);
    expect(await ids()).toBe('1,2,3,4,5,6');
    files.write('in/2.csv', good(7));
    expect((await run(texts())).held).toBeUndefined();
    expect(await ids()).toBe('1,2,3,4,5,6,7,8,9');
  });

  it('of which chunks were loaded already: none of its rows is published, and those of the others once', async () => {
    for (const file of [1, 2, 3]) files.write(`in/${file}.csv`, good(100 * file, 50));
    files.write('in/0.csv.gz', damaged(good(5_000, 100_000)));
    const result = await run(pipelineOf(), { chunkBytes: 65_536, workers: 2 });
    expect(heldIn(result)).toEqual([['in/0.csv.gz', 'ETL_SOURCE_CORRUPT']]);
    expect(await rowsOf('select count(*)::int, min(id), max(id) from arrive.item')).toEqual([
      { count: 150, min: 100, max: 349 },
    ]);
    expect(await textOf('select count(*) from etl.reject')).toBe('0');
  });

  it('that is replaced by the intact file of the same size and time is tried again', async () => {
    files.write('in/1.csv', good(1));
    const path = files.write('in/2.csv.gz', damaged(good(20, 100_000)));
    const { atime, mtime } = statSync(path);
    expect(heldIn(await run(pipelineOf()))).toEqual([['in/2.csv.gz', 'ETL_SOURCE_CORRUPT']]);
    writeFileSync(path, gzipSync(good(20, 100_000), { level: 0 }));
    utimesSync(path, atime, mtime);
    expect((await run(pipelineOf())).held).toBeUndefined();
    expect(await textOf('select count(*) from arrive.item')).toBe('100003');
  });

  it('keeps the rows of its loaded version, whatever happens to files that change or vanish', async () => {
    const publish = { mode: 'append', changed: 'reload', gone: 'unload' } as const;
    files.write('in/1.csv', good(1));
    files.write('in/2.csv', good(20));
    await run(pipelineOf({}, publish));
    files.write('in/2.csv', 'nothing\n');
    files.write('in/3.csv', good(30));
    expect(heldIn(await run(pipelineOf({}, publish)))).toEqual([['in/2.csv', 'ETL_HEADER_MISSING']]);
    expect(await ids()).toBe('1,2,3,20,21,22,30,31,32');
    rmSync(`${files.directory}/in/2.csv`);
    expect((await run(pipelineOf({}, publish))).held).toBeUndefined();
    expect(await ids()).toBe('1,2,3,30,31,32');
  });

  it.skipIf(process.getuid?.() === 0)('that may not be read keeps its rows, too', async () => {
    const path = files.write('in/1.csv', good(1));
    await run(pipelineOf({}, { mode: 'append', gone: 'unload' }));
    writeFileSync(path, good(7));
    chmodSync(path, 0);
    files.write('in/2.csv', good(20));
    const result = await run(pipelineOf({}, { mode: 'append', gone: 'unload' }));
    expect(heldIn(result)).toEqual([['in/1.csv', 'ETL_SOURCE_UNREADABLE']]);
    expect(await ids()).toBe('1,2,3,20,21,22');
  });

  it('that has changed since it was loaded holds back only itself, and stops the run with onBadFile: stop', async () => {
    files.write('in/1.csv', good(1));
    await run(pipelineOf());
    files.write('in/1.csv', good(1, 4));
    files.write('in/2.csv', good(20));
    await expect(run(pipelineOf({ onBadFile: 'stop' }))).rejects.toMatchObject({ code: 'ETL_FILE_CHANGED' });
    expect(heldIn(await run(pipelineOf()))).toEqual([['in/1.csv', 'ETL_FILE_CHANGED']]);
    expect(await ids()).toBe('1,2,3,20,21,22');
    expect((await run(pipelineOf({}, { mode: 'append', changed: 'ignore' }))).held).toBeUndefined();
  });

  it('stops the run in mode replace, and with a full refresh', async () => {
    files.write('in/1.csv', good(1));
    await run(pipelineOf());
    files.write('in/2.csv', '');
    const refused = { code: 'ETL_SOURCE_EMPTY' };
    await expect(run(pipelineOf({}, 'replace'))).rejects.toMatchObject(refused);
    await expect(run(pipelineOf(), { fullRefresh: true })).rejects.toMatchObject(refused);
    expect(await ids()).toBe('1,2,3');
    const result = await run(pipelineOf({ onBadFile: 'skip' }, 'replace'));
    expect(heldIn(result)).toEqual([['in/2.csv', 'ETL_SOURCE_EMPTY']]);
    expect((await run(pipelineOf({ onBadFile: 'skip' }, 'replace'))).outcome).toBe('unchanged');
  });
});

describe('a run whose files are all held back', () => {
  it('publishes nothing, and says so', async () => {
    files.write('in/1.csv', '');
    files.write('in/2.csv.gz', damaged(good(1)));
    await expect(run(pipelineOf())).rejects.toMatchObject({
      code: 'ETL_FILES_HELD',
      exit: 3,
      message: expect.stringMatching(/in\/1\.csv is empty[^]*in\/2\.csv\.gz is damaged/),
    });
    expect(await textOf(`select to_regclass('arrive.item')`)).toBe('null');
    files.write('in/1.csv', good(1));
    expect(heldIn(await run(pipelineOf()))).toEqual([['in/2.csv.gz', 'ETL_SOURCE_CORRUPT']]);
  });

  it('leaves what an earlier run published', async () => {
    files.write('in/1.csv', good(1));
    const { runId } = await run(pipelineOf());
    files.write('in/2.csv.gz', damaged(good(20, 100_000)));
    const result = await run(pipelineOf());
    expect(result).toMatchObject({ outcome: 'unchanged', runId });
    expect(heldIn(result)).toEqual([['in/2.csv.gz', 'ETL_SOURCE_CORRUPT']]);
    expect(await rowsOf(`select state, error_code from etl.run where id > ${runId}`)).toEqual([
      { state: 'failed', error_code: 'ETL_FILES_HELD' },
    ]);
  });
});

describe('a file that is not ready', () => {
  it('because it grows is held back, and loaded when it has settled', async () => {
    files.write('in/1.csv', good(1));
    const path = `${files.directory}/in/2.csv`;
    writeFileSync(path, 'id,name\n20,na');
    const running = run(pipelineOf());
    await sleep(700);
    appendFileSync(path, 'me 20\n');
    expect(heldIn(await running)).toEqual([['in/2.csv', 'ETL_FILE_NOT_READY']]);
    expect(await ids()).toBe('1,2,3');
    expect((await run(pipelineOf())).held).toBeUndefined();
    expect(await ids()).toBe('1,2,3,20');
  });

  it('because its marker is missing is held back, and the marker is not a data file', async () => {
    files.write('in/1.csv', good(1));
    files.write('in/1.csv.ok', '');
    files.write('in/2.csv', good(20));
    files.write('in/3.csv', good(30));
    files.write('in/3.ok', '');
    const result = await run(pipelineOf({ ready: '.ok' }));
    expect(heldIn(result)).toEqual([['in/2.csv', 'ETL_FILE_NOT_READY']]);
    expect(await ids()).toBe('1,2,3,30,31,32');
    files.write('in/2.csv.ok', '');
    expect((await run(pipelineOf({ ready: '.ok' }))).held).toBeUndefined();
    await expect(run(pipelineOf({ ready: '.no' }, 'replace', 'in/1.csv'))).rejects.toMatchObject({
      code: 'ETL_FILE_NOT_READY',
    });
  });

  it("because its last record has no line end is loaded with a notice, or held back by lastLine: 'complete'", async () => {
    files.write('in/1.csv', good(1));
    files.write('in/2.csv', good(20).trimEnd());
    files.write('in/3.csv.gz', gzipSync(good(30).trimEnd()));
    const result = await run(pipelineOf({ lastLine: 'complete' }));
    expect(heldIn(result)).toEqual([
      ['in/2.csv', 'ETL_FILE_NOT_READY'],
      ['in/3.csv.gz', 'ETL_FILE_NOT_READY'],
    ]);
    expect(await ids()).toBe('1,2,3');
    expect((await run(pipelineOf())).held).toBeUndefined();
    expect(runs.notices).toContain(
      'item: the last record has no line end, and is loaded as it is: 1 file: in/2.csv',
    );
    expect(await ids()).toBe('1,2,3,20,21,22,30,31,32');
  });

  it('by its name is matched only by a pattern that names it', async () => {
    files.write('in/1.csv', good(1));
    for (const name of [
      '2.csv.tmp',
      '2.csv.part',
      '2.filepart',
      '2.crdownload',
      '2.csv~',
      '~$2.csv',
      '.2.csv',
    ])
      files.write(`in/${name}`, 'half a fi');
    await run(pipelineOf());
    expect(await ids()).toBe('1,2,3');
    files.write('in/2.csv.part', good(20));
    await run(pipelineOf({}, 'append', 'in/*.part'));
    expect(await ids()).toBe('1,2,3,20,21,22');
  });
});

const textOfFile = (source: string, publish: string): string => `
  import { column, csv, definePipeline, sqlFile } from 'sluice';
  export default definePipeline({ name: 'arrive', schema: 'arrive', tables: { item: {
    source: ${source}, columns: { id: column.integer('id'), name: column.text('name') }, publish: ${publish} } } });`;

describe('the command line', () => {
  it('names held files, exits with 3, and retries a file at once', async () => {
    const pipeline = files.write('arrive.ts', textOfFile(`csv('in/*')`, `'append'`));
    files.write('in/1.csv', good(1));
    files.write('in/2.csv.gz', damaged(good(20, 100_000)));
    const first = await runs.etl('run', pipeline);
    expect(first).toMatchObject({ exit: 3, err: expect.not.stringContaining('error') });
    expect(first.out).toContain('1 file held back, of which nothing was loaded:');
    expect(first.out).toContain('ETL_SOURCE_CORRUPT: table item: in/2.csv.gz is damaged');
    const listed = await runs.etl('files', pipeline);
    expect(listed.out).toMatch(/in\/2\.csv\.gz +held back/);
    const status = JSON.parse((await runs.etl('status', '--json')).out) as object[];
    expect(status).toContainEqual(
      expect.objectContaining({ state: 'held back', file: 'in/2.csv.gz', errorCode: 'ETL_SOURCE_CORRUPT' }),
    );
    expect((await runs.etl('status')).out).toContain('in/2.csv.gz');
    const count = async (): Promise<number> => Number(await textOf('select count(*) from etl.run'));
    const before = await count();
    expect(await runs.etl('run', pipeline)).toMatchObject({ exit: 3 });
    expect(await count()).toBe(before);
    const retried = await runs.etl('reload', pipeline, 'in/2.csv.gz');
    expect(retried.exit, retried.err).toBe(3);
    expect(await count()).toBe(before + 1);
  });
});

describe('a directory that a writer fills while runs watch it', () => {
  const perFile = 20;
  const fileCount = 50;
  const badFiles = [7, 17, 27, 37, 47];
  const nameOf = (file: number): string => `in/${String(file).padStart(2, '0')}.csv`;
  const contentOf = (file: number): string => good(file * perFile + 1, perFile);
  const path = (name: string): string => `${files.directory}/${name}`;

  /** What each tenth file is at first. */
  const faults: readonly ((file: number) => string)[] = [
    (file) => contentOf(file).slice(0, -40),
    () => '',
    (file) => contentOf(file).replace('id,name', 'number;title'),
    () => '%PDF-1.7\n%\n1 0 obj\n',
    () => '\0'.repeat(500),
  ];

  /** Writes a file line by line. It looks complete all the time. */
  const writeSlowly = async (file: number): Promise<void> => {
    for (const line of contentOf(file).split(/(?<=\n)/)) {
      appendFileSync(path(nameOf(file)), line);
      await sleep(40);
    }
  };

  const writeAndRename = async (file: number): Promise<void> => {
    const part = path(`${nameOf(file)}.part`);
    writeFileSync(part, contentOf(file).slice(0, 100));
    await sleep(100);
    writeFileSync(part, contentOf(file));
    renameSync(part, path(nameOf(file)));
  };

  const fill = async (): Promise<void> => {
    for (let file = 0; file < fileCount; file += 1) {
      if (badFiles.includes(file)) writeFileSync(path(nameOf(file)), faults[badFiles.indexOf(file)]!(file));
      else if (file % 10 === 3) await writeSlowly(file);
      else if (file % 10 === 5) await writeAndRename(file);
      else writeFileSync(path(nameOf(file)), contentOf(file));
      await sleep(60);
    }
  };

  const loaded = async (): Promise<string> =>
    textOf(`select string_agg(format('%s,%s', id, name), ' | ' order by id, name) from arrive.item`);
  const recordsOf = (isWanted: (file: number) => boolean): string =>
    Array.from({ length: fileCount }, (_, file) => file)
      .filter(isWanted)
      .flatMap((file) => contentOf(file).trimEnd().split('\n').slice(1))
      .join(' | ');

  it('every good record is loaded once, every bad file is named, and the run is clean after the repair', async () => {
    const source = `csv('in/*', { settle: 0.3, lastLine: 'complete' })`;
    const pipeline = files.write('watched.ts', textOfFile(source, `{ mode: 'append', changed: 'reload' }`));
    files.write('in/first.csv', 'id,name\n0,first\n');
    let isFilling = true;
    const filling = fill().finally(() => (isFilling = false));
    const exits: number[] = [];
    while (isFilling) exits.push((await runs.etl('run', pipeline, '--quiet')).exit);
    await filling;
    expect(exits.filter((exit) => exit !== 0 && exit !== 3)).toEqual([]);
    const last = await runs.etl('run', pipeline);
    expect(last.exit).toBe(3);
    expect(
      badFiles.filter((file) => !last.out.includes(nameOf(file))),
      last.out,
    ).toEqual([]);
    expect(await loaded()).toBe(`0,first | ${recordsOf((file) => !badFiles.includes(file))}`);
    for (const file of badFiles) writeFileSync(path(nameOf(file)), contentOf(file));
    expect(await runs.etl('run', pipeline)).toMatchObject({ exit: 0 });
    expect(await loaded()).toBe(`0,first | ${recordsOf(() => true)}`);
    expect(await textOf('select count(*) from etl.reject')).toBe('0');
    const states = JSON.parse((await runs.etl('files', pipeline, '--json')).out) as { state: string }[];
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['in production']));
  });
});
