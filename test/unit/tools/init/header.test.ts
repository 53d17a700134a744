// Whether the first record is the header, and the names of columns and tables.

import { expect, it } from 'vitest';
import { columnNames, hasHeader } from '../../../../src/tools/init/header.ts';
import { pipelineNameOf, tableNames } from '../../../../src/tools/init/table-names.ts';

const lines = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map((line) => line.split(','));

it.each([
  ['names above numbers', 'name,kind,size\nn0,kind,0\nn1,other,1\nn2,kind,2', true],
  ['years, of which one is also a value', 'Country,1990,1991,1992\nC0,1980,0,0\nC1,1990,7,9', true],
  ['dates above numbers', 'place,2020-01-22,2020-01-23\nx,0,3\ny,1,4', true],
  ['hours above numbers', 'day,0,1,2,3\n2024-01-01,5,6,7,8\n2024-01-02,9,5,6,7', true],
  ['a long question', `Id,${'Why do you '.repeat(9)}?\n1,Never\n2,Never`, true],
  ['names above codes', 'sku,text\nA-17,x\nB-18,y', true],
  ['names above texts', 'name,city\nAnn,Rome\nBob,Bern', true],
  ['names in another script', '城市,气温\n北京,3\n上海,9', true],
  ['names above a column that is empty so far', 'id,note\n1,\n2,', true],
  ['names above null words', 'a,b\nNA,1\nNA,2', true],
  ['a header that comes again', 'day,n\n2024-01-01,5\nday,n\n2024-01-02,6', true],
  ['a header alone', 'a,b', true],
  ['two equal names above numbers', 'rate,rate\n1,2\n3,4', true],
  ['a name among numbers', 'id,2019\n1,5\n2,6', false],
  ['numbers', '1,Ann\n2,Bob', false],
  ['a code like the others', 'A-17,x\nB-18,y\nC-19,z', false],
  ['a date and texts', 'Ann,2024-01-01\nBob,2024-01-02', false],
  ['a record whose number is missing', 'Ann,NA,2024-01-01\nBob,2,2024-01-02', false],
  ['two small numbers', 'Ann,1,2\nBob,3,4', false],
  ['texts that occur again', 'Ann,Rome\nAnn,Bern\nBob,Rome', false],
])('%s', (_, text, expected) => {
  expect(hasHeader(lines(text))).toBe(expected);
});

it.each([
  [
    ['气温', 'Größe', 'район', 'Łódź', 'ΔT', 'サイズ'],
    ['气温', 'grosse', 'район', 'lodz', 'δt', 'サイズ'],
  ],
  [
    ['Start Time', 'HTTPStatus', '1st', ''],
    ['start_time', 'http_status', '_1st', 'field_4'],
  ],
  [
    ['rate', 'Rate', 'rate_2'],
    ['rate', 'rate_2', 'rate_2_2'],
  ],
  [
    ['xmin', 'ctid'],
    ['xmin_2', 'ctid_2'],
  ],
  [
    ['हिन्दी', 'ไทย'],
    ['हिन्दी', 'ไทย'],
  ],
  [
    ['W'.repeat(80), `${'W'.repeat(80)}x`],
    ['w'.repeat(50), `${'w'.repeat(50)}_2`],
  ],
  [['𠮷'.repeat(20)], ['𠮷'.repeat(12)]],
])('columns of %j are %j', (header, names) => {
  expect(columnNames(header)).toEqual(names);
});

it.each([
  ['气温.csv', 'data'],
  ['etl.csv', 'data_etl'],
  ['pg_stats.csv', 'data_pg_stats'],
  ['2024.csv', 'data_2024'],
])('the table of %s is %s', (file, name) => {
  expect(tableNames([[file]])).toEqual([name]);
});

it.each([
  ['pipelines/Größe 2.ts', 'grosse_2'],
  ['气温.ts', undefined],
])('the pipeline in %s is %s', (file, name) => {
  expect(pipelineNameOf(file)).toBe(name);
});
