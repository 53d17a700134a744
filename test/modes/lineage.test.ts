// The columns of lineage, as production has them: by every way of loading, and after whatever has happened to a run.

import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { zipFile } from '../helpers/zip-file.ts';

const { files, rowsOf, run, etl } = usePipelineRuns({ chunkBytes: 4096 });

/** Records that say at which line of the file they start; some have a line more, and some are no records at all. */
const content = (records: number): Buffer => {
  const lines = ['line,note'];
  for (let count = 0; count < records; count += 1)
    lines.push(
      ...(count % 7 === 0 ? ['', '# x', `${lines.length + 3},"a`, 'b"'] : [`${lines.length + 1},x`]),
    );
  return Buffer.from(`${lines.join('\n')}\n`);
};

const pipeline = (name: string, location: string, change: object = {}): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(location, { comment: '#' }),
        columns: { line: column.bigint('line'), note: column.text('note') },
        lineage: true,
        rejectLimit: 10,
        ...change,
      },
    },
  });

/** Rows of another line than theirs, and what else the columns say, by files. */
const lineageOf = (schema: string) =>
  rowsOf(`select f.name, count(*)::int as rows, count(*) filter (where line <> _line)::int as wrong,
      bool_and(_run = r.id) as "isRun", bool_and(_loaded_at = r.started_at) as "isStart"
    from ${schema}.t left join etl.published_file f on f.file_id = t._file left join etl.run r on r.id = f.run_id
    group by f.name order by f.name`);
const right = (name: string, rows = 2000) => ({ name, rows, wrong: 0, isRun: true, isStart: true });

beforeAll(() => {
  files.write('plain.csv', content(2000));
  files.write('stream.csv.gz', gzipSync(content(2000)));
  files.write('z.zip', zipFile([{ name: 'a.csv', content: content(2000) }]));
});

describe('rows know their file, line, run and its start', () => {
  it.each([
    { way: 'cut', location: 'plain.csv', workers: 2 },
    { way: 'shared', location: 'stream.csv.gz', workers: 2 },
    { way: 'member', location: 'z.zip!/*.csv', shown: 'z.zip!/a.csv' },
    { way: 'direct', location: 'plain.csv', change: { staging: 'none' } },
    {
      way: 'served',
      location: 'plain.csv',
      change: { columns: { line: column.of('bigint', 'line'), note: column.text('note') } },
    },
  ])('$way', async ({ way, location, shown = location, change = {}, workers = 1 }) => {
    await run(pipeline(way, location, change), { workers });
    expect(await lineageOf(way)).toEqual([right(shown)]);
  });
});

it('a run that goes on keeps its id and its start, and a corrected record its line', async () => {
  files.write('go/1.csv', content(2000));
  files.write('go/2.csv', 'line,note\n2,x\nx,"bad\nrecord"\n5,x\n');
  const strict = pipeline('go', 'go/*.csv', { rejectLimit: 0 });
  expect((await failureOf(run(strict))).code).toBe('ETL_REJECT_LIMIT');
  const { runId } = await run(pipeline('go', 'go/*.csv'));
  expect(await rowsOf("select count(*)::int as n from etl.run where pipeline = 'go'")).toEqual([{ n: 1 }]);
  expect(await lineageOf('go')).toEqual([right('go/1.csv'), right('go/2.csv', 2)]);
  const rejects = async (...args: string[]): Promise<string> => {
    const { exit, out, err } = await etl('rejects', ...args);
    expect(exit, err).toBe(0);
    return out;
  };
  const exported = await rejects('export', String(runId));
  files.write('corrected.csv', exported.replace(/,x,"bad\nrecord"\r\n$/, ',3,good\r\n'));
  await rejects('replay', 'corrected.csv');
  await run(pipeline('go', 'go/*.csv'));
  expect(await lineageOf('go')).toEqual([right('go/1.csv'), right('go/2.csv', 3)]);
});

it('rows that are appended have those of their own run, beside rows that stay', async () => {
  const appended = pipeline('more', 'more/*.csv', {
    publish: { mode: 'append', changed: 'reload' },
    primaryKey: ['_file', '_line'],
    copies: 'load',
    guard: false,
  });
  files.write('more/1.csv', content(20));
  files.write('more/2.csv', content(20));
  await run(appended);
  files.write('more/2.csv', content(30));
  files.write('more/3.csv', content(10));
  await run(appended);
  expect(await lineageOf('more')).toEqual([
    right('more/1.csv', 20),
    right('more/2.csv', 30),
    right('more/3.csv', 10),
  ]);
  expect(
    await rowsOf(
      'select count(distinct _run)::int as runs, count(distinct _loaded_at)::int as starts from more.t',
    ),
  ).toEqual([{ runs: 2, starts: 2 }]);
});
