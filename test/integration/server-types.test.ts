// Types that only the server reads, and texts that not even the server reads: the value that is stored is the one that was
// written, and a text that is no value becomes a reject with file, line and column.

import { beforeAll, expect, it } from 'vitest';
import { column, csv, definePipeline } from '../../src/index.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const runs = usePipelineRuns();

interface Served {
  readonly column: ReturnType<typeof column.of>;
  /** Texts of the file, and what the server shows of the value. */
  readonly good: Readonly<Record<string, string>>;
  /** No value of the type. Types that take any text have none. */
  readonly bad?: string;
  /** Of the reject that it becomes. */
  readonly code: 'server' | 'type';
}

/** A column named as its field. */
const of = (sqlType: string, name: string, good: Served['good'], bad?: string): [string, Served] => [
  name,
  { column: column.of(sqlType, name), good, bad, code: 'server' },
];

const made = (
  name: string,
  declared: Served['column'],
  good: Served['good'],
  bad?: string,
  code: Served['code'] = 'server',
): [string, Served] => [name, { column: declared, good, bad, code }];

const served = Object.fromEntries<Served>([
  of('public.mood', 'enum', { sad: 'sad', 'very happy': 'very happy' }, 'Sad'),
  of('public.even', 'domain', { 2: '2', ' -4': '-4' }, '3'),
  of('public.pair', 'composite', { '(1,"a,b")': '(1,"a,b")', '(,)': '(,)' }, '(1)'),
  of('integer[]', 'integers', { '{1,2,null}': '{1,2,NULL}', '{{1,2},{3,4}}': '{{1,2},{3,4}}' }, '{1,x}'),
  of('text[]', 'texts', { '{a,"b,c","\\"",""}': '{a,"b,c","\\"",""}', '{}': '{}' }, '{a'),
  of('numeric(6,2)[]', 'numerics', { '{1.5,2}': '{1.50,2.00}' }, '{12345}'),
  of('timestamptz[]', 'moments', { '{2024-02-29T12:00Z}': '{"2024-02-29 12:00:00+00"}' }, '{2023-02-29}'),
  of('public.mood[]', 'enums', { '{sad,"very happy"}': '{sad,"very happy"}' }, '{glad}'),
  of('public.even[]', 'domains', { '{2,4}': '{2,4}' }, '{2,3}'),
  of(
    'uuid[]',
    'uuids',
    { '{00000000000000000000000000000001}': '{00000000-0000-0000-0000-000000000001}' },
    '{1}',
  ),
  of('bytea', 'bytes', { '\\xDEad': '\\xdead', 'a\\001\\\\': '\\x61015c' }, '\\xDEA'),
  made(
    'either',
    column.bytea('either'),
    { '\\xDEad': '\\xdead', 'a\\001\\\\': '\\x61015c' },
    '\\xDEA',
    'type',
  ),
  made('hex', column.bytea('hex', { encoding: 'hex' }), { DEad: '\\xdead', '\\x00': '\\x00' }, 'DEA', 'type'),
  made('base64', column.bytea('base64', { encoding: 'base64' }), { '3q0=': '\\xdead' }, '3q0*', 'type'),
  of(
    'interval',
    'interval',
    {
      'P1Y2M3DT4H5M6.5S': '1 year 2 mons 3 days 04:05:06.5',
      '1 day 02:03:04': '1 day 02:03:04',
      '30:00:00': '30:00:00',
      '-1:30': '-01:30:00',
      '3 weeks ago': '-21 days',
      'P0001-02-03T04:05:06': '1 year 2 mons 3 days 04:05:06',
    },
    '1 fortnight',
  ),
  of('inet', 'inet', { '10.0.0.1/8': '10.0.0.1/8', '2001:DB8::1': '2001:db8::1/128' }, '10.0.0.256'),
  of('cidr', 'cidr', { '10/8': '10.0.0.0/8', '2001:db8::/32': '2001:db8::/32' }, '10.0.0.1/8'),
  of('macaddr', 'macaddr', { '08-00-2B-01-02-03': '08:00:2b:01:02:03' }, '08:00:2b:01:02'),
  of('macaddr8', 'macaddr8', { '0800.2b01.0203': '08:00:2b:ff:fe:01:02:03' }, '08:00'),
  of('money', 'money', { '$1,234.50': '$1,234.50', '(2)': '-$2.00' }, '12 EUR'),
  of('bit(4)', 'bit', { 1010: '1010', xA: '1010' }, '101'),
  of('bit varying(4)', 'varbit', { 101: '101' }, '10101'),
  of('xml', 'xml', { '<a b="1">é</a>': '<a b="1">é</a>' }, '<a>'),
  of('int4range', 'range', { '[1,5]': '[1,6)', '(,3)': '(,3)', empty: 'empty' }, '[5,1]'),
  of('tstzrange', 'moment_range', { '[2024-01-01 00:00Z,)': '["2024-01-01 00:00:00+00",)' }, '[2024-01-01'),
  of('datemultirange', 'multirange', { '{[2024-01-01,2024-01-02]}': '{[2024-01-01,2024-01-03)}' }, '[,]'),
  of('public.hstore', 'hstore', { 'a=>1, "b c"=>NULL': '"a"=>"1", "b c"=>NULL' }, 'a=>'),
  of('public.ltree', 'ltree', { 'Top.Science': 'Top.Science' }, 'Top..Science'),
  of('public.citext', 'citext', { Straße: 'Straße' }),
  of('tsvector', 'tsvector', { "fat:2A 'a b':1": "'a b':1 'fat':2A" }, "'fat"),
  of('tsquery', 'tsquery', { 'fat & !rat': "'fat' & !'rat'" }, 'fat &'),
  of('jsonpath', 'jsonpath', { '$.a[*]': '$."a"[*]' }, '$.'),
  of('pg_lsn', 'lsn', { '16/B374D848': '16/B374D848' }, '16'),
  of('xid8', 'xid8', { 123: '123' }, 'x'),
  of('point', 'point', { '(1,2.5)': '(1,2.5)', '1,2': '(1,2)' }, '1;2'),
  of('polygon', 'polygon', { '((0,0),(1,0),(1,1))': '((0,0),(1,0),(1,1))' }, '((0,0)'),
  of('box', 'box', { '1,1,0,0': '(1,1),(0,0)' }, '1,1'),
  made(
    'listed',
    column.of('integer[]', 'listed').map((text) => `{${text}}`),
    { '1, 2': '{1,2}' },
    '1,x',
  ),
  made(
    'quoted_list',
    column.of('text[]', 'quoted_list').map(
      (text) =>
        `{${text
          .split(';')
          .map((part) => JSON.stringify(part))
          .join()}}`,
    ),
    { 'a;b, "c"': '{a,"b, \\"c\\""}' },
  ),
  made(
    'place',
    column.of('point', ['longitude', 'latitude'], { separator: ',' }),
    { '13.4': '(13.4,52.5)' },
    'east',
  ),
  made(
    'lat_lon',
    column.of('point', 'lat_lon').map((text) => text.split(',').toReversed().join()),
    { '52.5,13.4': '(13.4,52.5)' },
    '52.5',
  ),
]);

const names = Object.keys(served);
const fields = ['id', ...names.map((name) => (name === 'place' ? 'longitude' : name)), 'latitude'];
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const good = (name: string, row: number): [string, string] => {
  const all = Object.entries(served[name]!.good);
  return all[row % all.length]!;
};
const line = (id: number, texts: readonly string[]): string =>
  `${[String(id), ...texts, '52.5'].map(quoted).join(',')}\n`;

const rows = Math.max(...Object.values(served).map(({ good: all }) => Object.keys(all).length));
/** Before PostgreSQL 16, hstore raises internal errors, which end the run (docs/operations/server.md), and xid8 reads `x` as 0. */
const refusedSince16 = new Set(['hstore', 'xid8']);
const faulty = names.filter(
  (name) => served[name]!.bad !== undefined && (serverMajor >= 16 || !refusedSince16.has(name)),
);

beforeAll(async () => {
  await runs.database.query(`
    create extension if not exists hstore schema public;
    create extension if not exists ltree schema public;
    create extension if not exists citext schema public;
    create type public.mood as enum ('sad', 'very happy');
    create domain public.even as integer check (value % 2 = 0);
    create type public.pair as (a integer, b text)`);
});

it('values are stored as they were written, and every text that is none is a reject with its line and column', async () => {
  const lines = [
    ...Array.from({ length: rows }, (_, row) =>
      line(
        row,
        names.map((name) => good(name, row)[0]),
      ),
    ),
    ...faulty.map((wrong, place) =>
      line(
        rows + place,
        names.map((name) => (name === wrong ? served[name]!.bad! : good(name, place)[0])),
      ),
    ),
  ];
  runs.files.write('served.csv', `${fields.map(quoted).join(',')}\n${lines.join('')}`);
  const columns = {
    id: column.integer('id'),
    ...Object.fromEntries(names.map((name) => [name, served[name]!.column])),
  };
  const pipeline = definePipeline({
    name: 'served',
    schema: 'served',
    tables: { all: { source: csv('served.csv'), columns, rejectLimit: '100%' } },
  });
  await runs.run(pipeline);

  const shown = names.map((name) => `"${name}"::text`).join(', ');
  expect(await runs.rowsOf(`select ${shown} from served.all order by id`)).toEqual(
    Array.from({ length: rows }, (_, row) =>
      Object.fromEntries(names.map((name) => [name, good(name, row)[1]])),
    ),
  );
  const rejects = await runs.rowsOf(
    `select f.name, r.line::int, r.column_name as column, r.code
     from etl.reject r join etl.source_file f on f.id = r.file_id order by r.line`,
  );
  expect(rejects).toEqual(
    faulty.map((name, place) => ({
      name: expect.stringMatching(/served\.csv$/),
      line: rows + place + 2,
      column: name,
      code: served[name]!.code,
    })),
  );
});
