// `etl verify` lists what the declared types, null tokens and trim change in the texts of files.

import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, verifyPipeline, type Pipeline } from '../../src/index.ts';
import type { VerifyLoss } from '../../src/tools/verify/report.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, run, settings, etl } = usePipelineRuns();

let names = 0;

const lossesOf = async (
  text: string,
  columns: Readonly<Record<string, unknown>>,
  dialect: object = {},
): Promise<readonly VerifyLoss[]> => {
  const name = `lost${(names += 1)}`;
  files.write(`${name}/1.csv`, text);
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(`${name}/*.csv`, dialect),
        columns: columns as { a: ReturnType<typeof column.text> },
        rejectLimit: 10,
      },
    },
  }) as Pipeline;
  await run(pipeline);
  const { outcome, tables } = await verifyPipeline(pipeline, settings());
  expect([outcome, tables[0]!.notCompared]).toEqual(['same', []]);
  return tables[0]!.losses;
};

const nullable = { a: column.text('a').nullable(), b: column.text('b').nullable() };

describe('losses', () => {
  it.each([
    {
      name: 'of trim, outside and inside quotes, after comments, blank lines and lines within quotes',
      text: '# c\na,b\nx,y\n\n# d , e\n"x\ny",z \n" q ", r\n" ,",\n',
      columns: nullable,
      dialect: { trim: true, comment: '#' },
      losses: [
        { column: 'a', what: 'blanks around values', cells: 2, text: ' q ', line: 8, becomes: 'q' },
        { column: 'b', what: 'blanks around values', cells: 2, text: 'z ', line: 6, becomes: 'z' },
      ],
    },
    {
      name: 'of trim outside quotes',
      text: 'a,b\n" x ", y\n',
      columns: nullable,
      dialect: { trim: 'outside' },
      losses: [{ column: 'b', what: 'blanks around values', cells: 1, text: ' y', line: 2, becomes: 'y' }],
    },
    {
      name: 'of null tokens, not of empty fields',
      text: 'a,b\nNA,1\n,"NA"\nNA,-\n',
      columns: { a: column.text('a').nullable(), b: column.text('b', { nulls: ['-'] }).nullable() },
      dialect: { nulls: ['', 'NA'], quotedNulls: false },
      losses: [
        { column: 'a', what: 'words that become null', cells: 2, text: 'NA', line: 2, becomes: null },
        { column: 'b', what: 'words that become null', cells: 1, text: '-', line: 4, becomes: null },
      ],
    },
    {
      name: 'of blanks alone, and of a default',
      text: 'a,b\n  ,NA\n, \n',
      columns: { a: column.text('a').nullable(), b: column.text('b', { nulls: ['NA'] }).default('none') },
      dialect: { trim: true },
      losses: [
        {
          column: 'a',
          what: 'fields of blanks alone, which become null',
          cells: 1,
          text: '  ',
          line: 2,
          becomes: null,
        },
        { column: 'b', what: 'words that become null', cells: 1, text: 'NA', line: 2, becomes: 'none' },
        {
          column: 'b',
          what: 'fields of blanks alone, which become null',
          cells: 1,
          text: ' ',
          line: 3,
          becomes: 'none',
        },
      ],
    },
    {
      name: 'of the ways in which numbers are written, behind a record that was rejected',
      text: 'a,b\n1,1.5\n2,"3"4\n+3,007\n1e3,1.50\n',
      columns: { a: column.double('a'), b: column.double('b') },
      losses: [
        { column: 'a', what: 'plus signs', cells: 1, text: '+3', line: 4, becomes: '3' },
        { column: 'a', what: 'exponents', cells: 1, text: '1e3', line: 5, becomes: '1000' },
        { column: 'b', what: 'leading zeros', cells: 1, text: '007', line: 4, becomes: '7' },
        {
          column: 'b',
          what: 'texts that double writes differently',
          cells: 1,
          text: '1.50',
          line: 5,
          becomes: '1.5',
        },
      ],
    },
    {
      name: 'of years of two digits, but not of forms that are declared',
      text: 'a;b\n31-Dec-45;1.234,5\n01-Jan-07;7,0\n',
      columns: {
        a: column.date('a', { format: 'DD-MMM-YY' }),
        b: column.numeric('b', { thousands: '.', decimal: ',' }),
      },
      dialect: { delimiter: ';' },
      losses: [
        {
          column: 'a',
          what: expect.stringMatching(/^centuries: years 69 to 99/),
          cells: 2,
          text: '31-Dec-45',
          line: 2,
          becomes: '2045-12-31',
        },
      ],
    },
    {
      name: 'of tokens and map; not of a column that is joined from two fields',
      text: 'a,b,c\r\n"$1\r\n",T,d\r\n2,9,e\r\n3,T,f\r\n',
      columns: {
        a: column.integer('a').map((text) => text.replace('$', '').trim()),
        b: column
          .integer('b')
          .tokens({ T: '0' })
          .map((text) => (text === '9' ? null : text))
          .nullable(),
        c: column.text(['b', 'c'], { separator: '-' }),
      },
      losses: [
        {
          column: 'a',
          what: expect.stringContaining('map'),
          cells: 1,
          text: '$1\r\n',
          line: 2,
          becomes: '1',
        },
        { column: 'b', what: expect.stringContaining('tokens'), cells: 3, text: 'T', line: 2, becomes: '0' },
      ],
    },
  ])('$name', async ({ text, columns, dialect = {}, losses }) => {
    const found = await lossesOf(text, columns, dialect);
    expect(
      found.map(({ column: of, what, cells, example }) => ({
        column: of,
        what,
        cells,
        text: example.text,
        line: example.line,
        becomes: example.becomes,
      })),
    ).toEqual(losses);
  });
});

describe('the command', () => {
  beforeAll(() => {
    files.write('codes/1.csv', 'code,n\n007,1\n8,2\n');
    files.write('codes/2.csv', 'code,n\n+9,1\n010,2\n');
    files.write(
      'pipelines/codes.ts',
      `import { column, csv, definePipeline } from 'sluice';
       export default definePipeline({ name: 'codes', schema: 'codes', tables: { t: {
         source: csv('codes/*.csv'), columns: { code: column.integer('code'), n: column.integer('n') } } } });`,
    );
  });

  it('prints a line that begins with ! for each loss of a table, and --strict refuses them', async () => {
    expect((await etl('run', 'codes')).exit).toBe(0);
    const { exit, out } = await etl('verify', 'codes');
    expect([exit, out.split('\n').filter((line) => line.startsWith('!'))]).toEqual([
      0,
      [
        '! t, code: 2 cells, leading zeros: "007" in line 2 of codes/1.csv becomes 7; `column.text` keeps the text',
        '! t, code: 1 cell, plus signs: "+9" in line 2 of codes/2.csv becomes 9; `column.text` keeps the text',
      ],
    ]);
    const strict = await etl('verify', 'codes', '--strict', '--json');
    expect([strict.exit, strict.err]).toEqual([5, expect.stringContaining('ETL_LOSS')]);
    expect(JSON.parse(strict.out.split('\n')[0]!)).toMatchObject({
      outcome: 'same',
      tables: [{ losses: [{}, {}] }],
    });
  });
});
