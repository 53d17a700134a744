// Files of a web server come to what the same local files come to, whatever the server does in between.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, type RunEvent } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const server = useHttpFiles();
const database = useDatabase();

type CsvOptions = NonNullable<Parameters<typeof csv>[1]>;

const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

/** Rejects and quoted line breaks among good records. */
const record = (n: number): string =>
  n % 997 === 0 ? `${n},no number` : `${n},${n % 3 === 0 ? `"line\n${'q'.repeat(n % 211)}"` : n}`;
const text = `id,words\r\n${Array.from({ length: 30_000 }, (_, n) => `${n % 499 === 0 ? 'x' : ''}${record(n)}\r\n`).join('')}`;

const load = async (
  name: string,
  paths: string | readonly string[],
  options: CsvOptions = { allowPrivate: true },
  run: Partial<Parameters<typeof runPipeline>[1]> = {},
) => {
  const events: RunEvent[] = [];
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(paths, options),
        columns: { id: column.integer('id'), words: column.text('words') },
        rejectLimit: 1_000,
      },
    },
  });
  const { tables, outcome } = await runPipeline(pipeline, {
    databaseUrl: database.url,
    workers: 1,
    chunkBytes: 200_000,
    onEvent: (event) => void events.push(event),
    ...run,
  });
  return {
    outcome,
    events,
    counts: [tables[0]!.records, tables[0]!.copied, tables[0]!.rejected, tables[0]!.rows],
    rows: await ask(`select count(*), sum(id), sum(hashtextextended(t::text, 0)::numeric) from ${name}.t`),
    rejects: await ask(
      `select line, last_line, byte, record, code, reason, raw from etl.reject r join etl.run on run.id = r.run_id
        where pipeline = '${name}' order by byte`,
    ),
  };
};

describe('a file of a server that cuts the connection three times', () => {
  it.each([
    { name: 'plain', bytes: Buffer.from(text), cuts: [300_000, 1, 400_000] },
    { name: 'gzip', bytes: gzipSync(text), cuts: [20_000, 1, 30_000] },
  ])('as $name: rows, rejects, lines and bytes of the local one', async ({ name, bytes, cuts }) => {
    const local = await load(`local_${name}`, files.write('local.csv', text), {});
    const url = server.put(`/${name}`, { bytes });
    const before = server.requests.length;
    // The header is read over a connection of its own, which its reader leaves.
    server.cuts = [Infinity, ...cuts];
    const remote = await load(`remote_${name}`, url);
    expect(server.cuts).toEqual([]);
    expect(remote.counts).toEqual(local.counts);
    expect(remote.rows).toEqual(local.rows);
    expect(remote.rejects).toEqual(local.rejects);
    expect(local.rejects.length).toBeGreaterThan(50);
    const resumed = server.requests.slice(before).filter(({ headers }) => headers['if-range'] !== undefined);
    expect(resumed.length).toBeGreaterThanOrEqual(3);
    // A run with the same version does nothing.
    expect((await load(`remote_${name}`, url)).outcome).toBe('unchanged');
  });
});
