// The csv-spectrum conformance set through the whole library: files in, production tables out.

import { readFileSync, readdirSync } from 'node:fs';
import { column, csv, definePipeline, runPipeline, sqlFile } from 'sluice';
import { beforeAll, describe, expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const sql = useFiles();
const folder = 'test/fixtures/csv-spectrum';

type Records = readonly Readonly<Record<string, string>>[];

const expectedOf = (name: string): Records => JSON.parse(readFileSync(`${folder}/json/${name}.json`, 'utf8'));

const names = readdirSync(`${folder}/csvs`).map((file) => file.replace('.csv', ''));

const headersOf = (name: string): readonly string[] => Object.keys(expectedOf(name)[0]!);

const typed = (name: string) => ({
  source: csv(`${folder}/csvs/${name}.csv`, { nulls: [] }),
  columns: Object.fromEntries(headersOf(name).map((header) => [header, column.text(header)])),
});

const verbatim = (name: string) => {
  const columns = headersOf(name).map((header) => `coalesce("${header}", '') as "${header}"`);
  const select = `select ${columns.join(', ')} from verbatim_${name}_staging`;
  return {
    source: csv(`${folder}/csvs/${name}.csv`),
    staging: 'text' as const,
    transform: sqlFile(sql.write(`${name}.sql`, select)),
  };
};

/** Rows of a table have no order of their own. */
const sorted = (records: Records): string[] => records.map((record) => JSON.stringify(record)).sort();

const rowsOf = async (table: string): Promise<Records> =>
  (await database.query<Record<string, string>>(`select * from s."${table}"`)).rows;

describe('csv-spectrum', () => {
  beforeAll(async () => {
    const tables = Object.fromEntries(
      names.flatMap((name): [string, object][] => [
        [name, typed(name)],
        [`verbatim_${name}`, verbatim(name)],
      ]),
    );
    const pipeline = definePipeline({ name: 'spectrum', schema: 's', tables } as never);
    await runPipeline(pipeline, { databaseUrl: database.url, workers: 1 });
  });

  it('is there', () => {
    expect(names).toHaveLength(11);
  });

  it.each(names)('%s: typed columns', async (name) => {
    expect(sorted(await rowsOf(name))).toEqual(sorted(expectedOf(name)));
  });

  it.each(names)('%s: text staging', async (name) => {
    expect(sorted(await rowsOf(`verbatim_${name}`))).toEqual(sorted(expectedOf(name)));
  });
});
