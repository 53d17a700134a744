// Members of archives are files of their own: named, listed, rejected from and recorded as such.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { useDatabase } from '../helpers/server.ts';
import { zipFile } from '../helpers/zip-file.ts';

const files = useFiles();
const database = useDatabase();
const server = useHttpFiles();

const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

const load = async (paths: string | readonly string[], encoding = 'utf-8', name = 'archives', more = {}) => {
  const source = csv(paths, { encoding, ...more });
  const columns = { id: column.integer('id'), word: column.text('word') };
  const { tables, outcome } = await runPipeline(
    definePipeline({ name, schema: name, tables: { t: { source, columns, rejectLimit: 10 } } }),
    { databaseUrl: database.url, workers: 2, workingDirectory: files.directory },
  );
  return {
    outcome,
    counts: [tables[0]!.files, tables[0]!.records, tables[0]!.rejected],
    words: (await ask(`select string_agg(word, ' ' order by id) as words from ${name}.t`))[0],
    files: await ask(
      `select name, member, decoding, encoding, bytes::int > 0 as stored from etl.source_file
        where run_id = (select max(id) from etl.run where pipeline = '${name}') order by ordinal`,
    ),
  };
};

const rows = (...ids: readonly number[]): string => `id,word\n${ids.map((id) => `${id},w${id}\n`).join('')}`;

const member = (name: string, path = 'a.zip') => ({
  name: `${path}!/${name}`,
  member: name,
  decoding: 'zip',
  encoding: 'utf-8',
  stored: true,
});

/** By default bad.zip is refused for its format. `bytes`: undefined for an archive that is there. */
interface Refused {
  readonly name: string;
  readonly path?: string;
  readonly bytes?: Buffer;
  readonly code?: string;
  readonly more?: object;
  readonly says: string;
  readonly hint?: string;
}

describe('members of archives', () => {
  files.write(
    'a.zip',
    zipFile([
      { name: 'b.csv', content: rows(3, 4) },
      { name: 'readme.txt', content: 'not CSV' },
      { name: 'a.csv', content: `${rows(1)}x,y\n${rows(2).slice('id,word\n'.length)}`, method: 0 },
      { name: 'old/c.csv', content: rows(5), flags: 8 },
      { name: '__MACOSX/._b.csv', content: 'nothing' },
      { name: '.hidden.csv', content: rows(6) },
    ]),
  );

  it('are found by a glob, which skips hidden ones, by their names, and are not loaded again', async () => {
    const loaded = await load(['a.zip!/*.csv']);
    expect(loaded).toEqual({
      outcome: 'published',
      counts: [2, 5, 1],
      words: { words: 'w1 w2 w3 w4' },
      files: [member('a.csv'), member('b.csv')],
    });
    expect(
      await ask('select f.name, line, raw from etl.reject join etl.source_file f on f.id = file_id'),
    ).toEqual([{ name: 'a.zip!/a.csv', line: '3', raw: 'x,y' }]);
    expect((await load(['a.zip!/*.csv'])).outcome).toBe('unchanged');
  });

  it('are each read once, whatever finds them, beside other files', async () => {
    files.write('plain.csv', rows(7));
    const paths = ['a.zip!/b.csv', 'plain.csv', 'a.zip!/**/*.csv', 'a.zip!/.hidden.csv'];
    expect(await load(paths)).toMatchObject({
      counts: [5, 8, 1],
      words: { words: 'w1 w2 w3 w4 w5 w6 w7' },
    });
  });

  it('need no name when there is one file, whatever programs put beside it', async () => {
    const pack = (id: number): Buffer =>
      zipFile([
        { name: 'x/' },
        { name: 'x/data.csv', content: Buffer.from(rows(id), 'utf16le'), isZip64: id === 1 },
        { name: '__MACOSX/x/._data.csv', content: 'nothing' },
        { name: '.DS_Store', content: 'nothing' },
      ]);
    files.write('one/1.zip', pack(1));
    files.write('one/2.zip', pack(2));
    expect(await load('one/*.zip', 'utf-16le', 'alone')).toMatchObject({
      counts: [2, 2, 0],
      words: { words: 'w1 w2' },
      files: [{ name: 'one/1.zip!/x/data.csv', encoding: 'utf-16le' }, { member: 'x/data.csv' }],
    });
  });

  it('are read from a server by ranges, of which each is cut off', async () => {
    const ids = Array.from({ length: 50_000 }, (_, id) => id);
    const bytes = zipFile([
      { name: 'a.csv', content: rows(...ids.slice(0, 25_000)) },
      { name: 'skipped.txt', content: 'x'.repeat(1_000_000), method: 0 },
      { name: 'b.csv', content: rows(...ids.slice(25_000)) },
    ]);
    const url = server.put('/a.zip', { bytes, cutAt: 40_000 });
    const loaded = await load(`${url}!/*.csv`, 'utf-8', 'remote', { allowPrivate: true });
    expect(loaded.counts).toEqual([2, 50_000, 0]);
    expect(loaded.files).toMatchObject([{ member: 'a.csv' }, { member: 'b.csv' }]);
  });

  const content = rows(1);
  const refused: readonly Refused[] = [
    {
      name: 'several files and none named',
      path: 'a.zip',
      says: 'a.zip is an archive of 4 files: "b.csv", "readme.txt", "a.csv", "old/c.csv"',
      hint: "csv('a.zip!/*.csv')",
    },
    {
      name: 'a member that is not there',
      path: 'a.zip!/z.csv',
      code: 'ETL_SOURCE_NOT_FOUND',
      says: 'no file matches a.zip!/z.csv (looked in a.zip, which has "b.csv"',
    },
    {
      name: 'members in folders, which a star does not match',
      path: 'bad.zip!/*.csv',
      bytes: zipFile([
        { name: '2024/jan/a.csv', content },
        { name: 'notes.pdf', content },
      ]),
      code: 'ETL_SOURCE_NOT_FOUND',
      says: '"notes.pdf"; in folders: ',
    },
    {
      name: 'members in folders and none named',
      bytes: zipFile([
        { name: 'notes.pdf', content },
        { name: '2024/jan/a.csv', content },
      ]),
      says: 'bad.zip is an archive of 2 files: "notes.pdf", "2024/jan/a.csv"',
      hint: "bad.zip!/**/*.csv')",
    },
    {
      name: 'a member of a file that is no archive',
      path: 'bad.zip!/z.csv',
      bytes: Buffer.from(content),
      says: 'bad.zip is not an archive',
      hint: 'Name only the file',
    },
    {
      name: 'an encrypted member',
      path: 'bad.zip!/*',
      bytes: zipFile([{ name: 'a.csv', content, flags: 1 }]),
      says: 'bad.zip!/a.csv is encrypted',
      hint: 'with its password',
    },
    {
      name: 'a name that climbs',
      path: 'bad.zip!/*',
      bytes: zipFile([{ name: '../a.csv', content }]),
      says: 'is not a readable zip archive: invalid relative path: ../a.csv',
      hint: 'pack it again',
    },
    {
      name: 'two members of one name',
      path: 'bad.zip!/*',
      bytes: zipFile([
        { name: 'a.csv', content },
        { name: 'a.csv', content },
      ]),
      says: 'bad.zip!/a.csv is in its archive twice',
    },
    {
      name: 'a member in gzip',
      path: 'bad.zip!/*',
      bytes: zipFile([{ name: 'a.csv.gz', content: gzipSync(content) }]),
      says: 'bad.zip!/a.csv.gz is compressed twice (gzip)',
      hint: 'Decompress it once',
    },
    {
      name: 'an archive in gzip',
      bytes: gzipSync(zipFile([{ name: 'a.csv', content }])),
      says: 'bad.zip is compressed twice (zip)',
      hint: 'Decompress it once',
    },
    {
      name: 'a spreadsheet',
      bytes: zipFile([{ name: '[Content_Types].xml' }, { name: 'xl/workbook.xml' }]),
      says: 'is a document of an office program',
      hint: 'as CSV',
    },
    {
      name: 'an archive that is cut off',
      bytes: zipFile([{ name: 'a.csv', content }]).subarray(0, 60),
      says: 'is not a readable zip archive',
      hint: 'Fetch it again',
    },
    {
      name: 'eight entries that point to one body',
      path: 'bad.zip!/*.csv',
      bytes: zipFile([
        { name: '0.csv', content },
        ...Array.from({ length: 7 }, (_, index) => ({ name: `${index + 1}.csv`, content, isFirst: true })),
      ]),
      says: 'overlaps the member after it, so that bytes would be read twice',
      hint: 'pack it again',
    },
    {
      name: 'a member with another name in its own header',
      bytes: zipFile([{ name: 'a.csv', ownName: 'b.csv', content }]),
      says: 'has another name than its directory has, a.csv',
      hint: 'pack it again',
    },
    {
      name: 'members that are too large only together',
      path: 'bad.zip!/*.csv',
      more: { maxBytes: 2 * content.length - 1 },
      bytes: zipFile([
        { name: 'a.csv', content },
        { name: 'b.csv', content },
      ]),
      code: 'ETL_SOURCE_EXPANDS',
      says: `bad.zip becomes more than ${2 * content.length - 1} bytes`,
      hint: 'maxBytes: …',
    },
    {
      name: 'a wrong checksum',
      bytes: zipFile([{ name: 'a.csv', content, crc32: 1 }]),
      code: 'ETL_SOURCE_CORRUPT',
      says: 'bad.zip!/a.csv is damaged at byte',
      hint: 'Fetch the file again',
    },
  ];
  const cases = refused.map((given) => ({
    path: 'bad.zip',
    code: 'ETL_SOURCE_FORMAT',
    hint: '',
    more: {},
    ...given,
  }));
  it.each(cases)('$name: $code', async ({ path, bytes, more, code, says, hint }) => {
    if (bytes !== undefined) files.write('bad.zip', bytes);
    const error = await failureOf(load(path, 'utf-8', 'refused', more));
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
    expect(error).toHaveProperty('hint', expect.stringContaining(hint));
  });
});
