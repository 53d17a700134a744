// Every recipe loads its sample into what its page says: counts, sums and values are those that Python found in the files.

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline, type RunResult } from '../../src/index.ts';
import { useDatabase } from '../helpers/server.ts';
import { readProjectFile, root } from '../unit/project/source-files.ts';

interface Expected {
  /** Records, rejected and filtered ones, and rows, of each table. */
  readonly counts: Readonly<Record<string, readonly number[]>>;
  readonly from: string;
  /** What to ask of that table, and the answers. */
  readonly values: readonly (readonly [expression: string, answer: unknown])[];
  /** Line, column and code of the records that are rejected. */
  readonly rejects?: readonly string[];
}

const recipes: Readonly<Record<string, Expected>> = {
  'aws-dms': {
    counts: { customer: [10, 0, 0, 4] },
    from: 'dms.customer',
    values: [
      ['array_agg(id order by id)', [2, 4, 5, 6]],
      ['array_agg(name order by id)', ['Berg, Bo', '"Dee" Dock', 'Eve Pier', 'Fay']],
      ['array_agg(email order by id)', ['bo@example.com', 'dee@example.com', 'eve@example.com', null]],
      ['sum(balance)', 30.9],
      ['max(created_at)', '2024-05-21T08:00:00'],
    ],
  },
  'bundestag-election': {
    counts: { result: [18, 0, 2, 16] },
    from: 'election.result',
    values: [
      ['sum(votes)', 1_125_480],
      ['count(*) filter (where votes is null)', 2],
      ['sum(percent)', 340.225454],
      ['sum(vote)', 20],
      ['count(winner)', 6],
      ['min(constituency_name)', 'Flensteg – Schleiwig'],
      ['max(election_day)', '2025-02-23'],
    ],
  },
  'china-statistics': {
    counts: { indicator: [5, 0, 0, 19] },
    from: 'china.indicator',
    values: [
      ['sum(value)', 4_756_604],
      ["sum(value) filter (where indicator = '天然气产量,常规(亿m³)')", 6404.1],
      ['count(distinct indicator)', 5],
      ['array_agg(distinct year)', [2020, 2021, 2022, 2023]],
    ],
  },
  'companies-house': {
    counts: { company: [5, 0, 0, 5] },
    from: 'companies.company',
    values: [
      [
        'array_agg(number order by incorporated)',
        ['00000099', 'SC999001', '09999002', 'NI999003', 'OC999004'],
      ],
      ['array[min(incorporated), max(incorporated)]', ['2010-09-11', '2014-09-15']],
      ['array[count(sic), count(dissolved)]', [4, 0]],
      ["max(name) filter (where number = 'SC999001')", '"SEA & SAND" LIMITED'],
    ],
  },
  debezium: {
    counts: { orders: [11, 0, 0, 4] },
    from: 'debezium.orders',
    values: [
      ['array_agg(id order by id)', [1001, 1002, 1004, 1006]],
      ['sum(total)', 421.3],
      ['array_agg(order_date order by id)', ['2024-05-07', '2024-05-07', '2024-05-08', '2024-05-10']],
      ["max(updated_at at time zone 'UTC')", '2024-05-06T12:53:44.123'],
      ['array_agg(note order by id)', ['corrected', 'gift, "wrapped"', 'two\nlines', null]],
    ],
  },
  'eurostat-hicp': {
    counts: { price_index: [9, 0, 0, 33] },
    from: 'hicp.price_index',
    values: [
      ['sum(value)', 4177.68],
      ["string_agg(flag, '' order by flag)", 'dppp'],
      ['array[min(month), max(month)]', ['2024-01-01', '2024-04-01']],
      ['array_agg(distinct geo)', ['DE', 'EA20', 'FR']],
      ['array_agg(distinct unit)', ['I15']],
    ],
  },
  'excel-unicode-text': {
    counts: { orders: [5, 0, 0, 5] },
    from: 'excel.orders',
    values: [
      ['sum(amount)', 13_287.17],
      ['sum(pieces)', 23],
      ['array_agg(discount order by id)', [0.05, null, 0.125, 0, null]],
      ['max(day)', '2024-03-11'],
      ['array_agg(paid order by id)', [true, false, true, false, true]],
      [
        'array_agg(customer order by id)',
        ['Müller & Söhne', 'Žižkov s.r.o.', '東京商店', 'Ahoi AG', 'Ahoi AG'],
      ],
      [
        'array_agg(note order by id)',
        [null, 'Lieferung "express", bitte', 'zwei\nZeilen', null, 'Tab im "Feld"'],
      ],
    ],
  },
  geonames: {
    counts: { place: [6, 0, 0, 6] },
    from: 'geonames.place',
    values: [
      ['sum(population)', 182_541],
      ['sum(location[1]::numeric)', 214.00583],
      ['sum(location[0]::numeric)', 105.05841],
      ['sum(cardinality(other_names))', 9],
      ['max(other_names[1]) filter (where id = 90000003)', '"The Cove"'],
      ['sum(elevation_m)', 277],
      ["max(name) filter (where country = 'NA')", 'Otjikaru'],
      ['array_agg(distinct feature)', ['P.PPL', 'P.PPLA', 'P.PPLA2', 'S.REST']],
      ['max(changed)', '2024-05-01'],
    ],
  },
  'ghcn-daily': {
    counts: { observation: [96, 0, 0, 96] },
    from: 'ghcn.observation',
    values: [
      ['sum(value)', 410.3],
      ['count(quality_flag)', 3],
      ["count(*) filter (where observed_at = '24:00')", 30],
      ["count(*) filter (where observed_at = '07:00')", 36],
      ["count(*) filter (where day >= '2024-01-01')", 48],
      ["(select count(*) from pg_partition_tree('ghcn.observation') where isleaf)", 2],
    ],
  },
  gtfs: {
    counts: { stop: [5, 0, 0, 5], trip: [3, 0, 0, 3], stop_time: [12, 0, 0, 12] },
    from: 'gtfs.stop_time',
    values: [
      ['extract(epoch from sum(departure))', 574_740],
      ['max(departure)', '24:07:00'],
      ['count(*) filter (where departure is null)', 1],
      ['(select sum(location[0]::numeric) from gtfs.stop)', 46.9838],
      ["(select name from gtfs.stop where id = 'S3')", 'Gasthof "Krone"'],
    ],
  },
  imdb: {
    counts: { title: [14, 1, 0, 13] },
    from: 'imdb.title',
    values: [
      ['sum(year)', 23_655],
      ['sum(minutes)', 893],
      ['count(*) filter (where is_adult)', 1],
      ['sum(cardinality(genres))', 19],
      ["max(title) filter (where id = 'tt9900000')", '"Rain" Was Her Name'],
      ["count(*) filter (where title like '%\"%')", 3],
    ],
    rejects: ['15 is_adult type'],
  },
  'japan-postcodes': {
    counts: { record: [10, 0, 0, 10], town: [0, 0, 0, 7] },
    from: 'postcodes.town',
    values: [
      [
        "max(town) filter (where postcode = '0660005')",
        '協和（８８－２、２７１－１０、３４３－２、４０４－１、４２７－３、４３１－１２、４４３－６、６０８－２、６４１－８、８１４、８４２－５、１１３７－３、１３９２、１６５７、１７５２番地）',
      ],
      [
        "array_agg(town order by length(town)) filter (where postcode = '9218046')",
        ['三小牛町', '大桑町（ア、イ、上野、和）'],
      ],
      ['sum(length(town))', 145],
      ['(select count(*) from postcodes.record where has_chome)', 2],
    ],
  },
  'land-registry': {
    counts: { sale: [17, 0, 0, 14] },
    from: 'price_paid.sale',
    values: [
      ['sum(price)', 3_083_500],
      ['count(*) filter (where postcode is null)', 1],
      ['count(*) filter (where is_new)', 6],
      ['max(day)', '2024-05-17'],
      ["max(street) filter (where street like '%\"%')", 'QUAY "NEW" WALK'],
    ],
  },
  'mysql-dump': {
    counts: { customer: [5, 0, 0, 5] },
    from: 'mysql.customer',
    values: [
      ['sum(balance)', 1_000_015.49],
      ['array_agg(name order by id)', ['Ada', 'Bo\tBerg', '', 'Dee "Dock"', 'Zoë']],
      ['array_agg(note order by id)', ['C:\\data\\ada', 'line one\nline two', null, 'ends with \\', 'N']],
      [
        'array_agg(email order by id)',
        ['ada@example.com', null, 'cy@example.com', 'dee@example.com', 'zoe@example.com'],
      ],
      ['array_agg(birthday order by id)', ['2006-02-15', null, '2019-12-31', null, '2021-01-01']],
      ['count(created)', 4],
      ['array_agg(active order by id)', [true, false, true, false, true]],
    ],
  },
  'nyc-taxi': {
    counts: { trip: [27, 1, 0, 26] },
    from: 'taxi.trip',
    values: [
      ['sum(vendor)', 39],
      ['sum(payment)', 51],
      ['sum(fare)', 301.5],
      ['sum(total)', 382.3],
      ['sum(miles)', 115.92],
      ['count(pickup)', 12],
      ['min(picked_up)', '2014-01-09T09:00:00'],
      ['max(dropped_off)', '2016-08-01T10:48:12'],
    ],
    rejects: ['17 null field_count'],
  },
  openaq: {
    counts: { measurement: [30, 0, 0, 30] },
    from: 'openaq.measurement',
    values: [
      ['sum(value::numeric)', 210.83],
      ['count(value)', 29],
      ["min(measured_at at time zone 'UTC')", '2024-01-15T08:00:00'],
      ["max(measured_at at time zone 'UTC')", '2024-01-16T12:00:00'],
      ['array_agg(distinct unit)', ['ppm', 'µg/m³']],
      ['max(location)', 'Quay Street, North-92178'],
    ],
  },
  openflights: {
    counts: { airport: [5, 0, 0, 5] },
    from: 'openflights.airport',
    values: [
      ['max(name) filter (where id = 990004)', 'Aeródromo "El Muelle"'],
      ['array_agg(city order by id)', ['Seeburg', "Port O'Connor", 'Sandefjord', 'Muelle', null]],
      ['sum(latitude::numeric)', 166.92562],
      ['sum(altitude_ft)', 1421],
      ['array_agg(iata order by id)', ['SBH', null, 'TQX', null, null]],
      ['count(timezone)', 3],
    ],
  },
  patentsview: {
    counts: { patent: [7, 0, 0, 7], application: [7, 2, 0, 5] },
    from: 'patents.patent',
    values: [
      ['sum(claims)', 70],
      ['count(*) filter (where withdrawn)', 1],
      ["max(title) filter (where id = '10999901')", 'Rope "never-slip" winch'],
      ['count(*) filter (where strpos(title, chr(10)) > 0)', 1],
      ['count(*) filter (where strpos(title, chr(9)) > 0)', 1],
      ['(select array[min(filed), max(filed)] from patents.application)', ['2018-03-05', '2020-06-01']],
    ],
    rejects: ['6 filed range', '8 filed check'],
  },
  'wikipedia-pageviews': {
    counts: { page_hour: [27, 0, 6, 21] },
    from: 'pageviews.page_hour',
    values: [
      ['sum(views)', 8324],
      ["count(*) filter (where hour = '2024-01-01T00:00Z')", 11],
      ["count(*) filter (where hour = '2024-01-01T01:00Z')", 10],
      ["count(*) filter (where title like '%\"%')", 4],
    ],
  },
  'world-bank': {
    counts: { indicator: [4, 0, 0, 13] },
    from: 'world_bank.indicator',
    values: [
      ['sum(value)', 30_108_607_911],
      ['array_agg(distinct country)', ['ALD', 'BMQ', 'WEX']],
      ['array_agg(value order by country) filter (where year = 1960)', [8_622_466, 3_031_474_234]],
      ["max(country_name) filter (where country = 'BMQ')", 'Borrowmere & Quay, Rep.'],
    ],
  },
};

const folder = 'examples/recipes';
const pages = 'docs/recipes';
const fileOf = (name: string): string => `${folder}/${name}/pipeline.ts`;
const lineCount = (path: string): number => readProjectFile(path).trimEnd().split('\n').length;

const database = useDatabase();

const run = async (name: string): Promise<RunResult> => {
  const file = join(root, fileOf(name));
  const { pipeline } = await loadPipelineFile(file);
  return runPipeline(pipeline, {
    databaseUrl: database.url,
    directory: dirname(file),
    workingDirectory: root,
    workers: 1,
  });
};

describe.each(Object.entries(recipes))('%s', (name, { counts, from, values, rejects = [] }) => {
  it('loads what Python reads in its files', async () => {
    const { runId, tables } = await run(name);
    expect(
      Object.fromEntries(tables.map((of) => [of.table, [of.records, of.rejected, of.filtered, of.rows]])),
    ).toEqual(counts);
    const expressions = values.map(([expression]) => expression);
    const found = await database.query(
      `select json_build_array(${expressions.join()}) as answers from ${from}`,
    );
    expect(found.rows[0]!['answers']).toEqual(values.map(([, answer]) => answer));
    const refused = await database.query<{ text: string }>(
      `select concat_ws(' ', line, coalesce(column_name, 'null'), code) as text from etl.reject
        where run_id = $1 order by line`,
      [runId],
    );
    expect(refused.rows.map(({ text }) => text)).toEqual(rejects);
  });

  it('has nothing to do a second time', async () => expect((await run(name)).outcome).toBe('unchanged'));

  it('is short, and so is its page, which shows it as it is', () => {
    expect(lineCount(fileOf(name))).toBeLessThanOrEqual(40);
    expect(lineCount(`${pages}/${name}.md`)).toBeLessThanOrEqual(45);
    // test/unit/project/documentation.test.ts compares what follows such a line.
    expect(readProjectFile(`${pages}/${name}.md`)).toContain(`<!-- file: ${fileOf(name)} -->\n\`\`\`ts\n`);
  });
});

describe('the list of recipes', () => {
  const names = Object.keys(recipes);

  it('has a folder for each', () => expect(readdirSync(join(root, folder)).toSorted()).toEqual(names));

  it('has a page for each', () =>
    expect(readdirSync(join(root, pages)).toSorted()).toEqual(
      ['README', ...names].map((name) => `${name}.md`).toSorted(),
    ));

  it('has a line for each', () => {
    const links = [...readProjectFile(`${pages}/README.md`).matchAll(/^\| .*\]\(([\w-]+)\.md\) \|$/gm)];
    expect(links.map(([, name]) => name!).toSorted()).toEqual(names);
  });
});
