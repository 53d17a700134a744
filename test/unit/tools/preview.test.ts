// `etl preview`: rows and rejects of the first records, on wide and narrow terminals, without a
// server.

import { randomInt } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from '../cli/fake-io.ts';

const files = useFiles();
let pipeline: string;

const content = [
  'Id,Name,Price,Day,Kind',
  '1,Ann,5,2024-02-29,x',
  '2,"",,2024-02-30,y',
  '3',
  'four,null,1.25,,x',
  '5,"tab\there",7.5,2024-03-01,drop',
  '6,"",1.2,,x',
].join('\n');

beforeAll(() => {
  files.write('in/a.csv', content);
  files.write('in/b.csv', Buffer.from('\uFEFFId,Name,Price,Day,Kind\n7,Zoë,1,2024-01-01,x\n', 'utf16le'));
  pipeline = files.write(
    'shop.ts',
    `import { column, csv, definePipeline, oneOf } from 'sluice';
     export default definePipeline({ name: 'shop', schema: 'shop', tables: {
       sale: {
         source: csv(['in/a.csv', 'in/b.csv'], { encoding: 'detect', quotedNulls: false }),
         filter: oneOf('Kind', ['x', 'y']),
         columns: {
           id: column.smallint('Id'),
           name: column.text('Name').nullable(),
           price: column.numeric('Price', { precision: 6, scale: 2 }).nullable(),
           day: column.date('Day').nullable(),
         },
       },
     } });`,
  );
});

const preview = async (args: readonly string[], stdout = {}) => {
  const io = fakeIo({
    workingDirectory: files.directory,
    stdout,
    env: { NO_COLOR: '1', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
  });
  expect([await main(['preview', pipeline, ...args], io), io.stderr.text]).toEqual([0, '']);
  return io.stdout.text;
};

describe('a preview', () => {
  it('shows rows as the server prints them, null and an empty text as two things, and rejects with line and reason', async () =>
    expect((await preview([])).split('\n')).toEqual([
      'sale  in/a.csv',
      'line        id  name           price  day',
      '      smallint  text?  numeric(6,2)?  date?',
      '   2         1  Ann             5.00  2024-02-29',
      '   7         6  ""              1.20  null',
      'reject line 3: day: 2024-02-30 is not a day of the calendar',
      'reject line 4: the record has 1 field, the header 5',
      'reject line 5: id: "four" is not a smallint',
      '2 rows, 3 rejects, 1 filtered in all',
      '',
      'sale  in/b.csv (utf-16le)',
      'line        id  name           price  day',
      '      smallint  text?  numeric(6,2)?  date?',
      '   2         7  Zoë             1.00  2024-01-01',
      '1 row, 0 rejects in all',
      '',
    ]));

  it('has a column a record where the terminal is narrow', async () => {
    const text = await preview(['-n', '1'], { isTTY: true, columns: 40 });
    expect(text.split('\n').slice(0, 7)).toEqual([
      'sale  in/a.csv',
      '                      line 2',
      'id     smallint       1',
      'name   text?          Ann',
      'price  numeric(6,2)?  5.00',
      'day    date?          2024-02-29',
      '1 row, 0 rejects so far',
    ]);
  });

  it('prints a line of JSON for each file', async () => {
    const found = (await preview(['--json']))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found.map(({ file }) => file)).toEqual(['in/a.csv', 'in/b.csv']);
    expect(found[0].rows).toEqual([
      { line: 2, values: ['1', 'Ann', '5.00', '2024-02-29'] },
      { line: 7, values: ['6', '', '1.20', null] },
    ]);
    expect(found[0].rejects.map(({ code, column }: Record<string, string>) => [code, column])).toEqual([
      ['range', 'day'],
      ['field_count', null],
      ['type', 'id'],
    ]);
  });

  it('shows which records delete their row, and no other column of a merge', async () => {
    const merged = files.write(
      'merged.ts',
      `import { column, csv, definePipeline, oneOf } from 'sluice';
       export default definePipeline({ name: 'merged', schema: 'merged', tables: { sale: {
         source: csv('in/a.csv'), columns: { id: column.smallint('Id') }, primaryKey: ['id'],
         publish: { mode: 'merge', deleted: oneOf('Kind', ['drop']) } } } });`,
    );
    const io = fakeIo({ workingDirectory: files.directory, env: { NO_COLOR: '1' } });
    await main(['preview', merged], io);
    expect(io.stdout.text.split('\n').slice(0, 7)).toEqual([
      'sale  in/a.csv',
      'line        id  publish.deleted',
      '      smallint  boolean',
      '   2         1  false',
      '   3         2  false',
      '   6         5  true',
      '   7         6  false',
    ]);
  });

  it('shows the columns that are asked for, in their order, and refuses others', async () => {
    expect((await preview(['-c', 'day,id', '-n', '1'])).split('\n').slice(0, 4)).toEqual([
      'sale  in/a.csv',
      'line  day               id',
      '      date?       smallint',
      '   2  2024-02-29         1',
    ]);
    const io = fakeIo({ workingDirectory: files.directory });
    expect(await main(['preview', pipeline, '-c', 'dya'], io)).toBe(2);
    expect(io.stderr.text).toContain("no previewed table has a column 'dya'; did you mean `day`?");
  });

  it('shows the fields of a table whose staging is text', async () => {
    const text = files.write(
      'text.ts',
      `import { csv, definePipeline, sqlFile } from 'sluice';
       export default definePipeline({ name: 'raw', schema: 'raw', tables: {
         raw: { source: csv('in/a.csv'), staging: 'text', transform: sqlFile('raw.sql') } } });`,
    );
    files.write('raw.sql', 'select * from raw_staging');
    const io = fakeIo({ workingDirectory: files.directory });
    expect(await main(['preview', text, '-n', '2'], io)).toBe(0);
    expect(io.stdout.text).toContain('   3  2      ""     null   2024-02-30  y');
  });

  it('reads the head of a file, not all of it', async () => {
    const records = Array.from({ length: 100_000 }, () => randomInt(1_000_000));
    // Only a reader that continues notices that the end of the file is missing.
    files.write('in/long.csv.gz', gzipSync(`a\n${records.join('\n')}`).subarray(0, -1_000));
    const file = files.write(
      'long.ts',
      `import { column, csv, definePipeline } from 'sluice';
       export default definePipeline({ name: 'long', schema: 'long', tables: {
         long: { source: csv('in/long.csv.gz'), columns: { a: column.integer('a') } } } });`,
    );
    const io = fakeIo({ workingDirectory: files.directory });
    expect(await main(['preview', file, '-n', '3'], io)).toBe(0);
    expect(io.stdout.text).toContain('3 rows, 0 rejects so far');
  });
});
