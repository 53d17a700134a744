// `etl init` on whole files: dialect, header, encoding, tables, keys, and the text of the pipeline.

import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { loadPipelineFile } from '../../../../src/index.ts';
import { lossText } from '../../../../src/tools/loss.ts';
import { initText, readForInit } from '../../../../src/tools/init/write-init.ts';
import { useFiles } from '../../../helpers/files.ts';
import { fakeIo } from '../../cli/fake-io.ts';

const files = useFiles();
let count = 0;

const read = async (...contents: readonly (string | Buffer)[]) => {
  const directory = `case${(count += 1)}`;
  const locations = contents.map((content, index) => files.write(`${directory}/part-${index}.csv`, content));
  return readForInit({ locations, workingDirectory: files.directory });
};

/** Returns a file with the header `id,name` and this number of records. */
const people = (
  records: number,
  lineOf: (index: number) => string = (index) => `${index},n${index}`,
): string => ['id,name', ...Array.from({ length: records }, (_, index) => lineOf(index))].join('\n');

it('files whose names differ in numbers are tables of their own where one has none, and are called so', async () => {
  const paths = [files.write('tz/zone.csv', '1,a\n2,b\n'), files.write('tz/zone1970.csv', '1,a\n2,b\n')];
  const { tables } = await readForInit({ locations: paths, workingDirectory: files.directory });
  expect(tables.map(({ name }) => name)).toEqual(['zone', 'zone1970']);
});

it('says of texts that are money, percentages or yes and no in other words how they are read', async () => {
  const { tables } = await read('price,share,active\n"$1,234.50",12.5%,ja\n$3,4%,nein\n');
  expect(tables[0]!.decisions.map(({ type, doubts }) => [type, doubts])).toEqual([
    ['text', [expect.stringMatching(/^"\$1,234\.50": amounts of money: kept as text/)]],
    ['text', [expect.stringMatching(/^"12\.5%": percentages: kept as text/)]],
    ['text', [expect.stringMatching(/^only "ja" and "nein": kept as text/)]],
  ]);
});

it('says of texts that are numbers in other spellings how they are read', async () => {
  const { tables } = await read(
    'amount;turnover;rupees\n"(1,234.50)";"1\u00a0234,50";"12,34,567.00"\n99.00;"1\u00a0234\u00a0567,50";99.00\n"1,234.50";7,50;"1,234.50"\n',
  );
  expect(tables[0]!.decisions.map(({ type, doubts }) => [type, doubts])).toEqual([
    ['text', [expect.stringContaining('negative numbers in parentheses: kept as text')]],
    ['numeric', []],
    ['numeric', []],
  ]);
});

it('says of dates with short years how they are read, and of versions nothing', async () => {
  const { tables } = await read('day,version\n01.02.24,1.2.3\n28.02.24,1.2.30\n');
  expect(tables[0]!.decisions.map(({ type, doubts }) => [type, doubts])).toEqual([
    ['text', [expect.stringMatching(/^"01\.02\.24": dates with years of two digits, some with four: kept/)]],
    ['text', []],
  ]);
});

describe('lines that are no records', () => {
  const sales = (...more: readonly (readonly [before: number, line: string])[]): string => {
    const lines = Array.from(
      { length: 40 },
      (_, index) => `2024-01-0${1 + (index % 9)},${index}.50,n${index}`,
    );
    for (const [before, line] of more.toReversed()) lines.splice(before, 0, line);
    return ['Sale Date,amount,note', ...lines, ''].join('\n');
  };

  it.each([
    { name: 'early', content: sales([2, 'Sale Date,amount,note'], [9, 'Sale Date,amount,note']), times: 2 },
    { name: 'late', content: sales([39, 'Sale Date,amount,note']), times: 1 },
  ])('a header that comes again $name is left out by a filter', async ({ name, content, times }) => {
    const path = `again/${name}.csv`;
    files.write(path, content);
    const draft = await readForInit({ locations: [path], workingDirectory: files.directory });
    expect(draft.tables[0]!.decisions.map(({ type }) => type)).toEqual(['date', 'numeric', 'text']);
    expect(draft.tables[0]!.losses.map(({ what }) => what)).toEqual([
      expect.stringMatching(`^${times} records? like the header, which the pipeline leaves out`),
    ]);
    const text = await initText(draft, 'again', `again/${name}.ts`);
    expect(text).toContain(
      `filter: when((fields) => fields['Sale Date'] !== 'Sale Date', ['Sale Date']), // the header is repeated ${times}×`,
    );
    const io = fakeIo({ workingDirectory: files.directory, env: { NO_COLOR: '1' } });
    expect(await main(['preview', files.write(`again/${name}.ts`, text), '-n', '100'], io)).toBe(0);
    expect(io.stdout.text).toContain(`40 rows, 0 rejects, ${times} filtered in all`);
  });

  it('names that are values now and then are no header that comes again', async () => {
    const records = Array.from({ length: 1_000 }, (_, at) => `${at},${at}`);
    const { tables } = await read(['day,total', ...records, 'day,1', '2,total', '3,total', ''].join('\n'));
    expect(tables[0]!.header).toEqual(['day', 'total']);
    expect(tables[0]!.repeats).toBe(0);
  });

  it('a total at the end is pointed to', async () => {
    const { tables } = await read(sales([40, 'Total,820.00,']));
    const [said] = tables[0]!.decisions.map(({ doubts }) => doubts[0]);
    expect(said).toMatch(/"Total" 1× not: .* leave them out with `skipEnd` or `filter`$/);
    expect(tables[0]!.repeats).toBe(0);
  });
});

describe('the dialect of a file', () => {
  it.each([
    [
      'stray quotes, and a field of two lines',
      'id,txt\n1,"a "quoted" b"\n2,5" pipe\n3,x\n4,"two\nlines"\n5,plain\n',
      { quotes: 'lenient', quote: '"', ragged: 'reject' },
    ],
    [
      'stray quotes, and a field of two lines far from the beginning',
      `${people(300, (index) => `${index},${index % 5 === 0 ? '"a "q" b"' : '5" pipe'}`)}\n300,"two\nlines"\n`,
      { quotes: 'lenient', quote: '"', ragged: 'reject' },
    ],
    [
      'a line for Excel before the header',
      '\ufeffsep=;\r\nid;name\r\n1;a\r\n2;b\r\n',
      { delimiter: ';', skipLines: 1 },
    ],
    [
      'a line for Excel, with a delimiter that nobody guesses',
      'SEP=^\nid^name, first\n1^a, x\n',
      { delimiter: '^', skipLines: 1 },
    ],
    ['commas', 'a,b\n1,2\n', { delimiter: ',', quote: '"' }],
    ['semicolons with decimal commas', 'a;b\n1,5;2,5\n3,5;4,5\n', { delimiter: ';' }],
    ['tabs, with commas in a text', 'a\tb\n1,2\tx, y, z\n2,3\tq\n', { delimiter: '\t' }],
    ['bars', 'a|b\r\n1|2\r\n', { delimiter: '|' }],
    ['delimiters within quotes', 'a,b\n1,"x,y"\n2,"z"\n', { quote: '"' }],
    ['quotes that are data', 'a\tb\n1\t5" pipe\n2\t6" pipe\n', { quote: null }],
    ['a quote that is data, far from the beginning', `${people(24_000)}\n1,5" pipe`, { quote: null }],
    ['backslashes before quotes', 'a,b\n1,"say \\"hi\\", now"\n2,"x"\n', { escape: '\\' }],
    ['a backslash before a quote, in a small file', 'a,b\n1,"x \\" y"\n2,"z"\n', { escape: '\\' }],
    ['quotes after a blank', 'a,b,c\n1, "x, y",3\n2, "z",4\n', { trim: true }],
    ['blanks around numbers', 'a,b\n 1,x\n20,y\n', { trim: true }],
    ['blanks around texts alone', 'a,b\n1, x\n20,y\n', { trim: false }],
    ['lines before the header', 'Report\nof today\n\na,b,c\n1,2,3\n4,5,6\n', { skipLines: 3, comment: null }],
    ['comments before the header', '# made today\na,b,c\n1,2,3\n4,5,6\n', { skipLines: 0, comment: '#' }],
    ['a header after a sign', '#a,b\n1,2\n3,4\n', { skipLines: 0, comment: null }],
    ['no header', '1,Ann\n2,Bob\n', { header: false }],
    [
      'no header, and records without their last field, the first among them',
      '# of zones, as\n# tz writes them\nAD\t+42\tEurope/Andorra\nAE,OM\t+25\tAsia/Dubai\tCrozet\nAF\t+34\tAsia/Kabul\nAL\t+41\tEurope/Tirane\twest\n',
      {
        delimiter: '\t',
        comment: '#',
        ragged: 'pad',
        header: ['field_1', 'field_2', 'field_3', 'field_4'],
      },
    ],
    ['a header of years', 'country,1960,1961\nAruba,1,2\n', { header: true }],
    ['a header of texts above texts', 'name,city\nAnn,Rome\nBob,Bern\n', { header: true }],
    ['texts that repeat', 'Ann,Rome\nAnn,Bern\nBob,Rome\n', { header: false }],
  ])('%s', async (_, content, dialect) => {
    const { tables } = await read(content);
    expect(tables[0]!.dialect).toMatchObject(dialect);
    expect(tables[0]!.losses).toEqual([]);
  });

  it.each([
    ['records that leave out their last fields', 'a,b\n1,2\n3\n4,5\n', { ragged: 'pad' }],
    [
      'a header with more fields than any record',
      'a,b,c\n1,x\n2,y\n3,z\n',
      { ragged: 'pad', skipLines: 0, header: true },
    ],
    [
      'comments after the header',
      'name,n\n# one\nx,1\n# two, three\ny,2\nz,3\n',
      { comment: '#', header: true },
    ],
  ])('knows %s, and says so', async (_, text, dialect) => {
    const { tables } = await read(text);
    expect(tables[0]).toMatchObject({ records: 3, dialect });
    expect(tables[0]!.remarks.join()).toMatch(/are comments|missing fields are empty/);
  });

  it('is not stretched over records with more fields, which are reported', async () => {
    const { tables } = await read('a,b\n1,2\n3,4,5\n4,5\n');
    expect(tables[0]).toMatchObject({ records: 2, dialect: { ragged: 'reject' } });
    expect(tables[0]!.losses.map((loss) => lossText(loss))).toEqual([
      expect.stringMatching(/^1 record will be rejected, the first in line 3 of .*field/),
    ]);
  });
});

describe('the encoding of a file', () => {
  const text = 'id,name\n1,Zoë\n2,Zürich\n';
  it.each([
    ['UTF-8', Buffer.from(text), undefined, ''],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`), undefined, ''],
    ['UTF-16 with a mark', Buffer.from(`\uFEFF${text}`, 'utf16le'), 'utf-16le', ''],
    ['UTF-16 without a mark', Buffer.from(text, 'utf16le'), 'utf-16le', ''],
    ['none of these', Buffer.from(text, 'latin1'), 'windows-1252', 'not UTF-8'],
    [
      'none of these, far from the beginning',
      Buffer.from(`${people(24_000)}\n7,Zoë`, 'latin1'),
      'windows-1252',
      'not UTF-8',
    ],
    ['gzip', gzipSync(text), undefined, ''],
  ])('%s', async (_, bytes, encoding, says) => {
    const { tables } = await read(bytes);
    expect(tables[0]).toMatchObject({ encoding, header: ['id', 'name'] });
    expect(tables[0]!.decisions.map(({ type }) => type)).toEqual([expect.stringMatching(/int/), 'text']);
    expect(tables[0]!.losses.map(({ what }) => what).join()).toContain(says);
  });

  it('is said for each file where they differ', async () => {
    const { tables } = await read(people(3), Buffer.from('id,name\n9,Zoë\n', 'latin1'));
    expect(tables[0]!.encoding).toBeUndefined();
    expect(tables[0]!.locations.map(({ encoding }) => encoding)).toEqual([undefined, 'windows-1252']);
  });
});

it('files of one header that are written in different ways are one table, each place with its own options', async () => {
  const [plain, other] = ['id,name,at\n1,a b,2011-01-04\n', 'Report\nid;name;at\n2;"c;d";2011-01-05\n'];
  const draft = await read(plain, plain.replace('1,', '3,'), other, Buffer.from(other, 'utf16le'));
  expect(draft.tables).toMatchObject([{ records: 4, header: ['id', 'name', 'at'] }]);
  const text = await initText(draft, 'people', 'people.ts');
  expect(text.replaceAll(`${files.directory}/case${count}/`, '').match(/csv\((.*?)\),\n/s)![1]).toBe(`[
        'part-0.csv',
        'part-1.csv',
        { path: 'part-2.csv', delimiter: ';', skipLines: 1 },
        { path: 'part-3.csv', encoding: 'utf-16le', delimiter: ';', skipLines: 1 },
      ]`);
  const { pipeline } = await loadPipelineFile(files.write('one-table.ts', text));
  expect(pipeline.name).toBe('people');
});

describe('tables and keys', () => {
  it('files of one header are one table, found by a glob that finds no others', async () => {
    const { tables } = await read(people(30), people(40), 'other,header\n1,2\n');
    expect(tables.map(({ records }) => records)).toEqual([70, 1]);
    expect(tables[0]!.locations).toHaveLength(2);
    const same = await read(people(2), people(3));
    expect(same.tables[0]!.locations.map(({ path }) => path)).toEqual([
      expect.stringMatching(/part-\*\.csv$/),
    ]);
  });

  it.each([
    ['a column that is unique', (at: number) => `${at},x`, [0]],
    ['two columns that are unique together', (at: number) => `${at % 7},n${Math.floor(at / 7)}`, [0, 1]],
    ['a first column that never changes belongs to it', (at: number) => `7,n${at}`, [0, 1]],
    ['the first records are not enough', (at: number) => `${at % 10_400},x`, undefined, 10_401],
    ['a missing value is no key', (at: number) => `${at === 50 ? '' : at},x`, undefined],
    ['two spellings of one number are no key', (at: number) => `${at === 50 ? '-0' : at},x`, undefined],
    ['ten records are unique by accident', (at: number) => `${at},x`, undefined, 10],
  ])('%s', async (_, lineOf, key, records = 100) => {
    const { tables } = await read(people(records, lineOf));
    expect(tables[0]!.key).toEqual(key);
  });
});

describe('the file that is written', () => {
  const hostile =
    'Id,it\'s,"a\\b",Ünï,,rate,rate,1st,"x\n*/ y"\n1,"NA",a,b,,1,2,x,y\n2,"\u202e",a,b,,1,2,x,y\n';

  it('has every header as it is, whatever is in it, and loads as a module', async () => {
    const from = files.write("hostile/it's.csv", hostile);
    const out = `${files.directory}/hostile/out.ts`;
    expect(await main(['init', from, '--yes', '--out', out], fakeIo())).toBe(0);
    const { pipeline } = await loadPipelineFile(out);
    expect(pipeline.name).toBe('out');
    const names = [...readFileSync(out, 'utf8').matchAll(/^ {8}(\w+): column/gm)].map(([, name]) => name);
    expect(names).toEqual(['id', 'it_s', 'a_b', 'uni', 'rate', 'rate_2', '_1st', 'x_y']);
  });

  it('never takes the place of another without --force', async () => {
    const from = files.write('force/a.csv', 'a,b\n1,2\n');
    const out = files.write('force/out.ts', 'mine');
    const io = fakeIo();
    expect(await main(['init', from, '--yes', '--out', out], io)).toBe(2);
    expect([io.stderr.text, readFileSync(out, 'utf8')]).toEqual([expect.stringContaining('--force'), 'mine']);
    expect(await main(['init', from, '--yes', '--out', out, '--force'], fakeIo())).toBe(0);
    expect(readFileSync(out, 'utf8')).toContain('definePipeline');
  });

  it('is not written with --strict if a record would be lost', async () => {
    const from = files.write('strict/a.csv', 'a,b\n1,2\n3,4,5\n4,5\n');
    const out = `${files.directory}/strict/out.ts`;
    const io = fakeIo();
    expect(await main(['init', from, '--strict', '--yes', '--out', out], io)).toBe(5);
    expect(io.stdout.text).toMatch(/^! a: 1 record will be rejected, the first in line 3/m);
    expect([io.stderr.text, existsSync(out)]).toEqual([expect.stringContaining('ETL_LOSS'), false]);
    expect(await main(['init', from, '--yes', '--out', out], fakeIo())).toBe(0);
    expect(readFileSync(out, 'utf8')).toContain('// ! 1 record will be rejected');
  });

  const flagged =
    'id,day,price,code,wind,name\n1,01/02/2024,"1.234,50",007,NA, x\n2,03/04/2024,"-0,5",+08,VR,\n3,05/06/2024,"7,25",9,3,y\n';

  it.each<[flags: readonly string[], writes: RegExp]>([
    [['--type', 'id=smallint'], /id: column.smallint\('id'\)/],
    [['--type', 'day=date(DD/MM/YYYY)'], /column.date\('day', \{ format: 'DD\/MM\/YYYY' \}\)/],
    [['--type', 'day=date(DD/MM/YYYY|D.M.YY)'], /format: \['DD\/MM\/YYYY', 'D.M.YY'\]/],
    [['--type', 'day=date(DD/MM/YYYY|D.M.YY)', '--pivot', '30'], /'D.M.YY'\], pivot: 30 \}\)/],
    [['--type', 'price=text'], /column.text\('price'\)/],
    [['--type', 'price=numeric'], /column.numeric\('price', \{ thousands: '.', decimal: ',' \}\)/],
    [['--type', 'price=numeric(1.234,5)'], /numeric\('price', \{ thousands: '.', decimal: ',' \}\)/],
    [['--type', 'name=varchar(3)'], /column.varchar\('name', \{ length: 3 \}\)/],
    [
      ['--type', 'code=integer'],
      /! leading zeros: "007" in line 2 of .*becomes 7.*\n.*! plus signs: "\+08".*\n.*column.integer\('code'\)/,
    ],
    [['--null', 'VR', '--null', 'NA'], /column.integer\('wind', \{ nulls: \['NA', 'VR'\] \}\).nullable/],
    [['--null', ' '], /"3".*are numbers|column.text\('wind'\)/],
    [['--key', 'id,day'], /primaryKey: \['id', 'day'\]/],
    [['--trim', 'yes'], /csv\(.*\{ trim: true \}\)[^]*! blanks around values: " x" in line 2[^]*`--trim no`/],
    [['--trim', 'no'], /column.text\('name'\)/],
  ])('follows %j', async (flags, writes) => {
    const from = files.write('flags/flags.csv', flagged);
    const out = `${files.directory}/flags/out.ts`;
    const io = fakeIo();
    const exit = await main(['init', from, ...flags, '--yes', '--force', '--out', out], io);
    expect([io.stderr.text, exit]).toEqual(['', 0]);
    expect(readFileSync(out, 'utf8')).toMatch(writes);
  });

  it.each([
    [['--type', 'nobody=text'], 'no file has the column "nobody"'],
    [['--type', 'id'], 'not of the form column=type'],
    [['--type', 'id=money'], 'not of the form column=type'],
    [['--type', 'id=uuid(4)'], 'uuid does not take (4)'],
    [['--type', 'day=date(DD/MM)'], 'needs year, month and day'],
    [['--type', 'day=date'], 'may mean'],
    [['--type', 'wind=integer'], 'refuses "VR" in line 3 of'],
    [['--key', 'name'], '1 record without a value'],
  ])('refuses %j', async (flags, says) => {
    const from = files.write('flags/flags.csv', flagged);
    const io = fakeIo();
    const out = `${files.directory}/flags/none.ts`;
    expect(await main(['init', from, ...flags, '--yes', '--out', out], io)).toBe(2);
    expect([io.stderr.text, existsSync(out)]).toEqual([expect.stringContaining(says), false]);
  });

  it('goes to standard output for --out -, and everything else to standard error', async () => {
    const io = fakeIo({ workingDirectory: files.directory });
    files.write('piped.csv', 'a,b\n1,x\n');
    expect(await main(['init', 'piped.csv', '--out', '-'], io)).toBe(0);
    expect(io.stdout.text).toMatch(/^\/\/ Written by .*name: 'piped'.*\}\);\n$/s);
    expect(io.stderr.text).toMatch(/^Read 1 file/);
    expect(existsSync(`${files.directory}/-`)).toBe(false);
  });

  it.each([
    ['stdin', ['-'], 'read only once'],
    ['an address with a mistake', ['http://localhost:1x/a.csv'], 'is not a valid address'],
    ['a file that is not there', ['nowhere.csv'], 'nowhere.csv'],
  ])('%s is an error', async (_, args, says) => {
    const io = fakeIo({ workingDirectory: files.directory });
    expect(await main(['init', ...args, '--yes'], io)).not.toBe(0);
    expect(io.stderr.text).toContain(says);
  });
});

it.each([
  ['elsewhere', false, 'Reading the files…\n'],
  ['on a terminal', true, '\rReading the files: 2 s'],
])('files that take long to read are spoken of %s', async (_, isTTY, says) => {
  const server = createServer(
    (_request, response) => void setTimeout(() => response.end('a,b\n1,2\n'), 2500),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const io = fakeIo({ stderr: { isTTY }, workingDirectory: files.directory });
  const url = `http://127.0.0.1:${port}/slow.csv`;
  expect(await main(['init', url, '--allow-private', '--yes', '--force', '--out', 'slow.ts'], io)).toBe(0);
  server.close();
  expect(io.stderr.text).toContain(says);
  expect(io.stderr.text.endsWith('\x1b[K')).toBe(isTTY);
});

describe('on a terminal', () => {
  const open = (lines: readonly string[], columns = 80) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.end(lines.map((line) => `${line}\n`).join(''));
    return fakeIo({
      stdin,
      stdout: { isTTY: true, columns },
      stderr: { isTTY: true, columns },
      env: { NO_COLOR: '1' },
      workingDirectory: files.directory,
    });
  };
  const days = [
    'Id,Day,Wind',
    ...Array.from({ length: 30 }, (_, at) => `${at},01/0${1 + (at % 9)}/2024,${at === 3 ? 'VR' : at}`),
  ];

  it('asks what is open, and where to write; an empty answer keeps the text', async () => {
    files.write('asked.csv', days.join('\n'));
    const io = open(['9', '3', '', 'pipelines/wind.ts']);
    expect([await main(['init', 'asked.csv'], io), io.stderr.text]).toEqual([0, '']);
    const text = readFileSync(`${files.directory}/pipelines/wind.ts`, 'utf8');
    expect(text).toContain("name: 'wind'");
    expect(text).toContain("day: column.date('Day', { format: 'MM/DD/YYYY' }), // 30 of 30");
    expect(text).toContain("wind: column.text('Wind'), // 30 of 30");
  });

  it('an answer may make a word a missing value; then its column is no key', async () => {
    files.write(
      'null.csv',
      ['Wind,n', ...Array.from({ length: 30 }, (_, at) => `${at === 3 ? 'VR' : at},x`)].join('\n'),
    );
    const io = open(['2', '']);
    expect(await main(['init', 'null.csv'], io)).toBe(0);
    expect(io.stdout.text).toMatch(/! null, Wind: words that become null, "VR" 1×: "VR" in line 5/);
    const text = readFileSync(`${files.directory}/pipelines/null.ts`, 'utf8');
    expect(text).toContain(
      `column.integer('Wind', { nulls: ['VR'] }).nullable(), // 29 of 30, 0 to 29; 1 "VR" → null`,
    );
    expect(text).not.toContain('primaryKey');
  });

  it('a question shows what each answer makes of a text, and fits into a narrow window', async () => {
    files.write('asked.csv', days.join('\n'));
    const io = open(['0', '2', '', 'out/', 'asked.csv', 'asked', 'out/asked.ts'], 40);
    expect(await main(['init', 'asked.csv'], io)).toBe(0);
    const lines = io.stdout.text.split('\n');
    const question = lines.findIndex((line) => line.startsWith('asked, Day:'));
    expect(lines.slice(question, question + 8)).toEqual([
      'asked, Day: dates whose first part may',
      '  be day or month',
      '  1  text',
      '  2  day first: "01/02/2024" is',
      '     2024-02-01',
      '  3  month first: "01/02/2024" is',
      '     2024-01-02',
      expect.stringMatching(/^ {2}which, 1 to 3\? \(1\) {3}which, 1 to 3\? \(1\)/),
    ]);
    expect(io.stdout.text.match(/Where to write the pipeline\?/g)).toHaveLength(4);
    expect(lines.filter((line) => line.includes('first part'))).toHaveLength(1);
    expect(existsSync(`${files.directory}/out/asked.ts`)).toBe(true);
  });

  it.each([
    ['out', 'ETL_USAGE'],
    ['there.ts', 'ETL_FILE_EXISTS'],
  ])('--out %s is refused before files are read: %s', async (out, code) => {
    files.write('there.ts', '');
    const io = open([], 40);
    expect(await main(['init', 'nothing.csv', '--out', out], io)).toBe(2);
    expect(io.stderr.text).toContain(code);
    expect(io.stderr.text.split('\n').every((line) => line.length <= 40)).toBe(true);
  });

  it('nothing is written when the questions are left', async () => {
    const io = open(['2']);
    expect(await main(['init', 'asked.csv', '--out', 'left.ts'], io)).toBe(2);
    expect(existsSync(`${files.directory}/left.ts`)).toBe(false);
  });
});
