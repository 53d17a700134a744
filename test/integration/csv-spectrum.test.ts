// The csv-spectrum conformance set through the whole library: files in, production tables out.

import { readFileSync, readdirSync } from 'node:fs';
import { column, csv, definePipeline, runPipeline, sqlFile } from 'sluice';
import { describe, expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const sql = useFiles();
const folder = 'test/fixtures/csv-spectrum';

type Records = readonly Readonly<Record<string, string>>[];

const expectedOf = (name: string): Records => JSON.parse(readFileSync(`${folder}/json/${name}.json`, 'utf8'));

const names = readdirSync(`${folder}/csvs`).map((file) => file.replace('.csv', ''));

/** Rows of a table have no order of their own. */
const sorted = (records: Records): string[] => records.map((record) => JSON.stringify(record)).sort();

const rowsOf = async (name: string): Promise<Records> =>
  (await database.query<Record<string, string>>(`select * from s."${name}"`)).rows;

describe('csv-spectrum', () => {
  it('is there', () => {
    expect(names).toHaveLength(11);
  });

  it.each(names)('%s: typed columns', async (name) => {
    const expected = expectedOf(name);
    const headers = Object.keys(expected[0]!);
    const columns = Object.fromEntries(headers.map((header) => [header, column.text(header)]));
    const source = csv(`${folder}/csvs/${name}.csv`, { nulls: [] });
    const pipeline = definePipeline({
      name: `typed_${name}`,
      schema: 's',
      tables: { [name]: { source, columns } },
    });
    await runPipeline(pipeline, { databaseUrl: database.url, workers: 1 });
    expect(sorted(await rowsOf(name))).toEqual(sorted(expected));
  });

  it.each(names)('%s: text staging', async (name) => {
    const expected = expectedOf(name);
    const columns = Object.keys(expected[0]!).map((header) => `coalesce("${header}", '') as "${header}"`);
    const transform = sqlFile(
      sql.write(`${name}.sql`, `select ${columns.join(', ')} from verbatim_${name}_staging`),
    );
    const source = csv(`${folder}/csvs/${name}.csv`);
    const table = { source, staging: 'text', transform } as const;
    const pipeline = definePipeline({
      name: `text_${name}`,
      schema: 's',
      tables: { [`verbatim_${name}`]: table },
    });
    await runPipeline(pipeline, { databaseUrl: database.url, workers: 1 });
    expect(sorted(await rowsOf(`verbatim_${name}`))).toEqual(sorted(expected));
  });
});
