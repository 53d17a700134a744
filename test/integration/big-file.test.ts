// One large file cut among workers: the same rows, rejects and positions as when one worker reads it from end to end.

import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { segmentBytesMin } from '../../src/core/limits.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const records = 120_000;

/** Text over several lines, with quotes, now and then something broken: cuts must not fall into any of it. */
const record = (n: number): string => {
  if (n % 9_973 === 0) return `${n},no number,plain`;
  if (n % 17_977 === 0) return `${n},${n},"never closed`;
  const text = `line ${n}\n"" said the ""quote"", ${'x'.repeat(n % 211)}`;
  return n % 3 === 0
    ? `${n},${n % 1000},"${text}"`
    : `${n},${n % 1000},plain text of record ${n} ${'y'.repeat(150)}`;
};

const path = files.write(
  'big.csv',
  `id,n,words\n${Array.from({ length: records }, (_, index) => `${record(index + 1)}\n`).join('')}`,
);

const load = async (name: string, workers: number) => {
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      big: {
        source: csv(path),
        columns: { id: column.integer('id'), n: column.integer('n'), words: column.text('words') },
        rejectLimit: 1_000,
      },
    },
  });
  const chunkBytes = segmentBytesMin / 4;
  const { tables } = await runPipeline(pipeline, { databaseUrl: database.url, workers, chunkBytes });
  const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;
  return {
    counts: [tables[0]!.records, tables[0]!.rejected, tables[0]!.rows],
    rows: await ask(`select count(*), sum(n), sum(hashtextextended(b::text, 0)::numeric) from ${name}.big b`),
    rejects: await ask(
      `select line, byte, record, code, reason, raw from etl.reject r join etl.run on run.id = r.run_id
        where pipeline = '${name}' order by byte`,
    ),
    starts: await ask(
      `select c.byte_start::float8 as byte from etl.chunk c join etl.source_file f on f.id = c.file_id
        join etl.run r on r.id = f.run_id where r.pipeline = '${name}' order by 1`,
    ),
  };
};

describe('one large file', () => {
  it('comes to the same with three workers as with one', async () => {
    const alone = await load('alone', 1);
    const shared = await load('shared', 3);
    expect(alone.rejects).not.toEqual([]);
    expect({ ...shared, starts: [] }).toEqual({ ...alone, starts: [] });
    // It was cut: chunks begin elsewhere than when they follow each other from the beginning.
    expect(shared.starts).not.toEqual(alone.starts);
  });
});
