// Delimiters, quotes and headers that are found or given, and files that are cut off.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { loadPipelineFile } from '../../../../src/index.ts';
import { lossText } from '../../../../src/tools/loss.ts';
import { readForInit } from '../../../../src/tools/init/write-init.ts';
import { useFiles } from '../../../helpers/files.ts';
import { fakeIo } from '../../cli/fake-io.ts';

const files = useFiles();

const read = async (content: string) => {
  const location = files.write('a.csv', content);
  const { tables } = await readForInit({ locations: [location], workingDirectory: files.directory });
  const [table] = tables;
  return { ...table!, lines: table!.losses.map((loss) => lossText(loss)) };
};

/** Runs `etl init` with flags, and returns the written pipeline and the report. */
const init = async (content: string, ...flags: readonly string[]) => {
  files.write('given.csv', content);
  const io = fakeIo({ workingDirectory: files.directory, env: { NO_COLOR: '1' } });
  const exit = await main(['init', 'given.csv', '--out', 'out.ts', '--force', '--yes', ...flags], io);
  const text = exit === 0 ? readFileSync(`${files.directory}/out.ts`, 'utf8') : '';
  return { exit, text, source: /source: (.*),$/m.exec(text)?.[1], report: io.stdout.text + io.stderr.text };
};

it.each([
  ['\u0001', 'id\u0001name\u0001v\n1\u0001a,b\u00011.5\n2\u0001c,d\u00012.5\n'],
  ['\u001f', 'id\u001fname\n1\u001fa,b\n2\u001fc,d\n'],
  ['~', 'id~name~v\n1~a,b~1.5\n2~c~2.5\n'],
  ['^', 'id^name\n1^a\n2^b|c\n'],
  ['||', 'id||name||v\n1||a|b||2\n2||c||3\n'],
  ['||', 'id||name\n1||a\n2||b\n'],
  ['|', 'id|empty|name\n1||a\n2||b\n'],
  ['::', 'id::at\n1::10:30\n2::11:45\n'],
  [',', 'a,b\n~x,1\n~y,2\n'],
])('the delimiter %j is found', async (delimiter, content) => {
  const { dialect, remarks, header } = await read(content);
  expect([dialect.delimiter, remarks]).toEqual([delimiter, []]);
  expect(header[0]).toMatch(/^(?:id|a)$/);
});

it.each([
  ['NAME      AMOUNT CITY\nÅsa           12 Göteborg\nBo           345 Lund\n', 'aligned by blanks'],
  ['root:x:0\nbin:x:1\n', '--delimiter'],
])('one field in each record is pointed to: %j', async (content, remark) => {
  const { header, remarks } = await read(content);
  expect(header).toHaveLength(1);
  expect(remarks.join()).toContain(remark);
});

describe('a file that is cut off inside a quote', () => {
  const quoted = (records: number, end: string): string =>
    `id,txt\n${Array.from({ length: records }, (_, at) => `${at},"a, b ""${at}"""\n`).join('')}${end}`;

  it.each([
    ['in its last line', quoted(3, '902,"12'), 3, 1],
    ['in a text of several lines', quoted(3, '902,"12\n13\n14'), 3, 3],
    ['after many records', quoted(30_000, '902,"12'), 30_000, 1],
    ['where no other field has quotes', 'id,txt\n1,a\n2,b\n3,"c', 2, 1],
  ])('%s keeps its quotes, and the end is rejected', async (_, content, records, faulty) => {
    const table = await read(content);
    expect(table).toMatchObject({ records, faulty, dialect: { quote: '"', quotes: 'strict' } });
    expect(table.lines[0]).toMatch(/^1 record will be rejected, the first in line \d.*is never closed; /);
    expect(table.remarks.join()).toContain('it may be cut off');
  });

  it('is not a file that has quotes as data', async () => {
    const table = await read('id,txt\n1,"a\n2,b\n3,"c"d\n4,e\n');
    expect(table).toMatchObject({ records: 4, dialect: { quote: null }, remarks: [] });
  });
});

describe('faulty records', () => {
  it.each([
    ['one surplus delimiter', 'a,b,c\n1,2,3\n4,5,6,\n7,8,9\n'],
    ['one surplus delimiter, far from the beginning', `a,b\n${'1,2\n'.repeat(80_000)}3,4,\n`],
    ['a NUL', 'a,b\n1,2\n3,4\u0000\n5,6\n'],
  ])('%s: the pipeline tolerates as many rejects, and says so', async (_, content) => {
    const { exit, text, report } = await init(content);
    expect(exit).toBe(0);
    expect(text).toContain('rejectLimit: 1, // as many records are faulty');
    expect(report).toMatch(/^! given: 1 record will be rejected, the first in line /m);
  });
});

it('more fields than PostgreSQL has columns are one error', async () => {
  const record = (text: string): string => Array.from({ length: 1_700 }, (_, at) => `${text}${at}`).join(',');
  const { exit, report } = await init(`${record('c')}\n${record('')}\n`);
  expect(exit).toBe(1);
  expect(report).toContain('given.csv has 1,700 fields, and PostgreSQL allows 1,600 columns');
});

it('names that the header has twice are reported, and the columns have names of their own', async () => {
  const { text, report } = await init(`rate,rate,${'x'.repeat(70)}\n1,2,3\n4,5,6\n`);
  expect(report).toContain('! given: the header has "rate" 2×; the columns are rate, rate_2');
  expect(text).toContain("rate_2: column.integer('rate#2')");
  expect(text).toContain(`${'x'.repeat(50)}: column.integer('${'x'.repeat(70)}')`);
});

it('names of any script are columns, and the pipeline loads', async () => {
  const { text } = await init('气温,район,xmin\n1,2,3\n4,5,6\n');
  expect(text).toMatch(/气温: column.*район: column.*xmin_2: column/s);
  const { pipeline } = await loadPipelineFile(files.write('scripts.ts', text));
  expect(pipeline.name).toBe('out');
});

it.each([
  [['--delimiter', ':'], 'a:b\n1,5:2\n', `csv('given.csv', { delimiter: ':' })`],
  [['--delimiter', '\\x02'], 'a\u0002b\n1\u00022\n', `csv('given.csv', { delimiter: '\\u{2}' })`],
  [['--quote', "'"], `a,b\n1,'x,y'\n`, `csv('given.csv', { quote: '\\'' })`],
  [['--quote', 'none'], 'a,b\n1,"x"\n', `csv('given.csv', { quote: null })`],
  [['--escape', '\\'], 'a,b\n1,"x \\" y"\n', `csv('given.csv', { escape: '\\\\' })`],
  [['--no-header'], 'a,b\n1,2\n', `csv('given.csv', { header: false })`],
  [['--header'], '1,2\n3,4\n', `csv('given.csv')`],
  [['--header-lines', '2'], 'a,\nb,c\n1,2\n', `csv('given.csv', { headerLines: 2 })`],
])('%j is written as it is given', async (flags, content, source) => {
  expect(await init(content, ...flags)).toMatchObject({ exit: 0, source });
});

it.each([
  [['--quote', 'ab'], "'ab' is not one character, or none"],
  [['--delimiter', ''], 'a delimiter has at least one character'],
  [['--header-lines', '0'], 'is not a whole number from 1 to 10'],
])('%j is an error', async (flags, problem) => {
  const { exit, report } = await init('a,b\n1,2\n', ...flags);
  expect([exit, report]).toEqual([2, expect.stringContaining(problem)]);
});
