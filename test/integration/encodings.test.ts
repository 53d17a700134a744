// Files in other encodings than UTF-8 have the rows, rejects and lines of the same files in UTF-8.

import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

let loads = 0;
/** Loads files, each with its encoding and into a table of its own, in one run. */
const loadEach = async (...given: readonly (readonly [bytes: Buffer, encoding?: string])[]) => {
  loads += 1;
  const name = `load_${loads}`;
  const columns = { id: column.integer('id'), words: column.text('wörter') };
  const tables = given.map(([bytes, encoding], place) => {
    const path = files.write(`${name}_${place}.csv`, bytes);
    return [
      `t${place}`,
      { source: csv(path, encoding === undefined ? {} : { encoding }), columns, rejectLimit: 100 },
    ] as const;
  });
  const pipeline = definePipeline({ name, schema: name, tables: Object.fromEntries(tables) });
  const result = await runPipeline(pipeline, {
    databaseUrl: database.url,
    workers: 1,
    chunkBytes: 50_000,
  });
  const loaded = result.tables.map(async ({ table, records, copied, rejected }) => ({
    rows: await ask(`select count(*), sum(hashtextextended(t::text, 0)::numeric) from ${name}.${table} t`),
    counts: [records, copied, rejected],
    rejects: await ask(
      `select line, record, column_name, code, reason, raw from etl.reject r join etl.run on run.id = r.run_id
        where pipeline = '${name}' and table_name = '${table}' order by byte`,
    ),
    file: (
      await ask(`select decoding, encoding from etl.source_file f join etl.run on run.id = run_id
        where pipeline = '${name}' and table_name = '${table}'`)
    )[0],
  }));
  return Promise.all(loaded);
};
const load = async (bytes: Buffer, encoding?: string) => (await loadEach([bytes, encoding]))[0]!;

/** Quoted line ends, characters of every length, and a reject in every hundredth line. */
const text = `id,wörter\r\n${Array.from({ length: 3000 }, (_, n) =>
  n % 100 === 7 ? `no ${n},ä\r\n` : `${n},"ä „${'é'.repeat(n % 40)}“\nß"\r\n`,
).join('')}`;

describe('a file in another encoding', () => {
  it('has the rows, rejects and lines of the same file in UTF-8', async () => {
    const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
    const encoded = [
      [Buffer.from(text, 'utf16le'), 'UTF-16', 'utf-16le', null],
      [marked, 'detect', 'utf-16le', null],
      [Buffer.from(marked).swap16(), 'utf-16be', 'utf-16be', null],
      [Buffer.from(`\ufeff${text}`), 'detect', 'utf-8', null],
      [iconv.encode(text, 'windows-1252'), 'latin1', 'windows-1252', null],
      [iconv.encode(text, 'gb18030'), 'gbk', 'gbk', null],
      [gzipSync(Buffer.from(text, 'utf16le')), 'utf-16le', 'utf-16le', 'gzip'],
    ] as const;
    const given = encoded.map(([bytes, label]) => [bytes, label] as const);
    const [plain, ...others] = await loadEach([Buffer.from(text)], ...given);
    expect(plain!.counts).toEqual([3000, 2970, 30]);
    expect(others).toEqual(
      encoded.map(([, , encoding, decoding]) => ({ ...plain, file: { decoding, encoding } })),
    );
  });

  it('loses only the records whose bytes are no text, which are rejects with their line', async () => {
    const reason = 'the record holds bytes that are not valid in the encoding of its file';
    const utf16 = await load(
      Buffer.concat([
        Buffer.from('id,wörter\n1,a\n2,b', 'utf16le'),
        Buffer.of(0x3d, 0xd8),
        Buffer.from('\n3,"c\n\n"\n4,d', 'utf16le'),
        Buffer.of(0x41),
      ]),
      'utf-16le',
    );
    expect(utf16.counts).toEqual([4, 2, 2]);
    const of = { column_name: 'words', code: 'encoding', reason: `${reason}, in field 2 (wörter)` };
    expect(utf16.rejects).toEqual([
      { line: '3', record: '2', raw: '2,b\\xff', ...of },
      { line: '7', record: '4', raw: '4,d\\xff', ...of },
    ]);
    const chinese = await load(
      Buffer.concat([
        iconv.encode('id,wörter\n1,', 'gb18030'),
        Buffer.of(0x81),
        iconv.encode('\n2,中\n', 'gbk'),
      ]),
      'gb18030',
    );
    expect(chinese.counts).toEqual([2, 1, 1]);
    expect(chinese.rejects).toEqual([{ line: '2', record: '1', raw: '1,\\xff', ...of }]);
  });

  it('may be one of several locations, each with its own', async () => {
    const old = iconv.encode('id,wörter\n1,ä\n', 'windows-1252');
    files.write('old.csv', old);
    files.write('older.csv', Buffer.from('id,wörter\n2,ö\n', 'utf16le'));
    files.write('new.csv', Buffer.concat([Buffer.from('id,wörter\n3,ü\n4,'), Buffer.of(0xff)]));
    const at = (name: string): string => `${files.directory}/${name}.csv`;
    const source = (more: object) =>
      csv([
        { path: at('old'), encoding: 'latin1', ...more },
        { path: at('older'), encoding: 'UTF-16LE' },
        at('new'),
      ]);
    const columns = { id: column.integer('id'), words: column.text(2) };
    const pipeline = (more: object = {}) =>
      definePipeline({
        name: 'mixed',
        schema: 'mixed',
        tables: { t: { source: source(more), columns, rejectLimit: 1 } },
      });
    const options = { databaseUrl: database.url, redis: false as const };
    await runPipeline(pipeline(), options);
    const rows = async () => (await database.query('select words from mixed.t order by id')).rows;
    expect((await rows()).map(({ words }) => words)).toEqual(['ä', 'ö', 'ü']);
    const { rows: rejects } =
      await database.query(`select code from etl.reject join etl.run on run.id = run_id
      where pipeline = 'mixed'`);
    expect(rejects).toEqual([{ code: 'invalid_utf8' }]);
    expect(await runPipeline(pipeline(), options)).toMatchObject({ outcome: 'unchanged' });
    await runPipeline(pipeline({ encoding: 'koi8-r' }), options);
    expect((await rows())[0]).toEqual({ words: 'Д' });
  });

  const le = Buffer.from(`\ufeff${text}`, 'utf16le');
  it.each([
    {
      name: 'with a mark that is not declared',
      bytes: le,
      encoding: undefined,
      code: 'ETL_SOURCE_FORMAT',
      says: 'begins with the byte order mark of UTF-16LE, and is declared as UTF-8',
      hint: "encoding: 'utf-16le'",
    },
    {
      name: 'with a mark that contradicts the declared one',
      bytes: Buffer.from(`\ufeff${text}`),
      encoding: 'windows-1252',
      code: 'ETL_SOURCE_FORMAT',
      says: 'begins with the byte order mark of UTF-8, and is declared as WINDOWS-1252',
      hint: "'detect'",
    },
    {
      name: 'in UTF-16 without a mark',
      bytes: le.subarray(2),
      encoding: undefined,
      code: 'ETL_HEADER_INVALID',
      says: 'it has a NUL byte',
      hint: "encoding: 'utf-16le'",
    },
    {
      name: 'in latin1 that is not declared',
      bytes: Buffer.from('id,wörter\n', 'latin1'),
      encoding: undefined,
      code: 'ETL_HEADER_INVALID',
      says: 'it is not valid text in the encoding of the file, which is UTF-8 unless you declare another',
      hint: "encoding: 'windows-1252'",
    },
    {
      name: 'of nothing but a mark',
      bytes: le.subarray(0, 2),
      encoding: 'utf-16le',
      code: 'ETL_SOURCE_EMPTY',
      says: 'is empty',
      hint: '',
    },
  ])('$name is refused: $code', async ({ bytes, encoding, code, says, hint }) => {
    const error = await failureOf(load(bytes, encoding));
    expect(error).toMatchObject({ code, details: { table: 't0' } });
    expect(error.message).toContain(says);
    expect(error).toHaveProperty('hint', expect.stringContaining(hint));
  });
});
