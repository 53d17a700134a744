// Text staging on a real server: the bytes of the file arrive as they are.

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { noQuote } from '../../src/db/staging.ts';
import { useDatabase } from '../helpers/server.ts';
import { loadAll, rejectsOf, stagingRows, withChunkFile, type ChunkFile } from './chunk-loading.ts';

const database = useDatabase();

describe('text staging', () => {
  const checksum = (columns: number): string =>
    `select count(*)::int as rows, sum(('x' || left(md5(array_to_string(array[${Array.from(
      { length: columns },
      (_, index) => `row_[${index + 1}]`,
    ).join(',')}], chr(31), '')), 8))::bit(32)::bigint)::text as sum`;

  const noaa: readonly { name: string; files: readonly string[]; options: ChunkFile['options'] }[] = [
    {
      name: 'noaa/201101..201106hourly.txt',
      files: ['01', '02', '03', '04', '05', '06'].map((month) => `data/noaa/2011${month}hourly.txt`),
      options: {},
    },
    {
      name: 'noaa/201505station.txt',
      files: ['data/noaa/201505station.txt'],
      options: { delimiter: '|', quote: null },
    },
  ];

  it.each(noaa)('$name: every byte is in staging', async ({ name, files, options }) => {
    const expected = JSON.parse(await readFile('test/fixtures/expected/expected.json', 'utf8'))[name];
    const sums = { rows: 0, sum: 0n };
    for (const path of files)
      await withChunkFile(
        database.url,
        { path, options: options ?? {}, chunkBytes: 50_000 },
        async (prepared) => {
          await loadAll(prepared);
          const { rows } = await prepared.client.query(
            `${checksum(expected.columns)} from (select array[${prepared.file.header
              .map((header) => `"${header}"`)
              .join(',')}] as row_ from ${prepared.staging}) as rows`,
          );
          sums.rows += rows[0].rows;
          sums.sum += BigInt(rows[0].sum);
          expect(await rejectsOf(prepared)).toEqual([]);
        },
      );
    expect(sums).toEqual({ rows: expected.rows, sum: BigInt(expected.row_md5_sum8) });
  });

  const cases: readonly (ChunkFile & {
    name: string;
    content: string;
    rows: readonly (readonly (string | null)[])[];
  })[] = [
    {
      name: 'mixed newlines',
      content: 'a,b\r\n1,2\n3,4\r\r\n5,6\r\n"7\r\n8",9',
      rows: [
        ['1', '2'],
        ['3', '4'],
        ['5', '6'],
        ['7\r\n8', '9'],
      ],
    },
    {
      name: 'blank lines',
      content: 'a,b\n\n1,2\n\r\n\n3,4\n\n',
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    },
    { name: 'blank lines of one column', content: 'a\n\n1\n\n', rows: [[null], ['1'], [null]] },
    { name: 'the end of data of one column', content: 'a\n1\n\\.\n2\n', rows: [['1'], ['\\.'], ['2']] },
    {
      name: 'and without a quote',
      content: 'a\n1\n\\.\n2\n',
      options: { quote: null },
      rows: [['1'], ['\\.'], ['2']],
    },
    {
      name: 'the end of data among fields',
      content: 'a,b\n\\.,1\n2,\\.\n',
      rows: [
        ['\\.', '1'],
        ['2', '\\.'],
      ],
    },
    { name: 'empty is null, quoted empty is a text', content: 'a,b\n,""\n', rows: [[null, '']] },
    {
      name: 'blanks, backslashes and quotes',
      content: 'a,b\n x ,"""\\n"\n\\N,NULL\n',
      rows: [
        [' x ', '"\\n'],
        ['\\N', 'NULL'],
      ],
    },
    {
      name: 'quotes are data when there is no quote',
      content: 'a\tb\n"x\ty"\n',
      options: { delimiter: '\t', quote: null },
      rows: [['"x', 'y"']],
    },
    {
      name: 'an escape of its own',
      content: 'a,b\n"x\\"y","C:\\temp\\\\"\n',
      options: { escape: '\\' },
      rows: [['x"y', 'C:\\temp\\']],
    },
    { name: 'comments', content: 'a,b\n#"\n1,2\n', options: { comment: '#' }, rows: [['1', '2']] },
    {
      name: 'a byte order mark, and skipped lines',
      content: '\ufeffx\na,b\n1,\ufeff2\n',
      options: { skipLines: 1 },
      rows: [['1', '\ufeff2']],
    },
    { name: 'a header without a name', content: 'a,,b\n1,2,3\n', rows: [['1', '2', '3']] },
    { name: 'no record at all', content: 'a,b\n', rows: [] },
  ];
  it.each(cases)('$name', async ({ rows, ...given }) => {
    await withChunkFile(database.url, given, async (prepared) => {
      await loadAll(prepared);
      expect(await rejectsOf(prepared)).toEqual([]);
      expect(await stagingRows(prepared)).toEqual(rows);
    });
  });

  const refused: readonly (ChunkFile & {
    name: string;
    content: string;
    rows: readonly unknown[];
    bad: readonly string[];
  })[] = [
    {
      name: 'a lone \\. of several columns',
      content: 'a,b\n1,2\n\\.\n3,4\n',
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
      bad: ['3 field_count'],
    },
    {
      name: 'stray quotes that COPY would read over the records’ ends',
      content: 'a,b\n1"x,2\n3"y,4\n5,6\n',
      rows: [['5', '6']],
      bad: ['2 quote', '3 quote'],
    },
    {
      name: 'an unclosed quote',
      content: 'a,b\n1,2\n"3,4\n5,6\n',
      rows: [
        ['1', '2'],
        ['5', '6'],
      ],
      bad: ['3 quote'],
    },
    {
      name: 'the character that COPY takes for the quote',
      content: `a,b\n1,${noQuote}\n3,"\n`,
      options: { quote: null },
      rows: [['3', '"']],
      bad: ['2 quote'],
    },
  ];
  it.each(refused)('$name: rejected, the others loaded', async ({ rows, bad, ...given }) => {
    await withChunkFile(database.url, given, async (prepared) => {
      await loadAll(prepared);
      expect((await rejectsOf(prepared)).map(({ line, code }) => `${line} ${code}`)).toEqual(bad);
      expect(await stagingRows(prepared)).toEqual(rows);
    });
  });

  it('calls fields without a name by their place, and cuts names as the server does, between characters', async () => {
    const long = `a${'é'.repeat(40)}`;
    const content = `id;;${long};;\n1;2;3;4;5\n`;
    await withChunkFile(database.url, { content, options: { delimiter: ';' } }, async (prepared) => {
      await loadAll(prepared);
      const { rows } = await prepared.client.query(`select * from ${prepared.staging}`);
      const cut = `a${'é'.repeat(31)}`;
      expect(rows).toEqual([{ id: '1', field_2: '2', [cut]: '3', field_4: '4', field_5: '5' }]);
    });
  });
});
