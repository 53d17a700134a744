// Decodes a file without a server, and prints the CPU seconds that it took and the rows that came out.
//
//   jiti decode.ts compiled|csv-parse|init <file>
//
// init: infers its columns, types and keys instead, from all of its records.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { bindPipeline } from '../../src/pipeline/bind.ts';
import type { SourceTableSpec } from '../../src/core/declaration.ts';
import { blockDecoder } from '../../src/format/rows/compiled-decoder.ts';
import { createRowMaker } from '../../src/format/rows/row-maker.ts';
import { streamRows } from '../../src/format/rows/stream-rows.ts';
import { createSplitter } from '../../src/format/records/splitter.ts';
import { column, csv, definePipeline } from '../../src/index.ts';
import { readForInit } from '../../src/tools/init/write-init.ts';
import { readRange } from '../../src/input/sources/read-file.ts';

const [decoder = '', file = ''] = process.argv.slice(2);

const twenty = definePipeline({
  name: 'decode',
  schema: 'decode',
  tables: {
    observation: {
      source: csv('*', { trim: true, nulls: ['', 'M', 'null'] }),
      columns: {
        wban: column.text('WBAN'),
        observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
        station_type: column.smallint('StationType'),
        record_type: column.text('RecordType'),
        sky: column.text('SkyCondition').nullable(),
        visibility: column.real('Visibility').nullable(),
        weather: column.text('WeatherType').nullable(),
        dry_bulb_f: column.smallint('DryBulbFarenheit').nullable(),
        dry_bulb: column.real('DryBulbCelsius').nullable(),
        wet_bulb: column.real('WetBulbCelsius').nullable(),
        dew_point: column.real('DewPointCelsius').nullable(),
        humidity: column.smallint('RelativeHumidity').nullable(),
        wind_speed: column.smallint('WindSpeed').nullable(),
        wind_direction: column.smallint('WindDirection', { nulls: ['VR'] }).nullable(),
        wind_gust: column.smallint('ValueForWindCharacter').nullable(),
        pressure: column.real('StationPressure').nullable(),
        tendency: column.smallint('PressureTendency').nullable(),
        sea_level_pressure: column.real('SeaLevelPressure').nullable(),
        rain: column.numeric('HourlyPrecip', { precision: 5, scale: 2, tokens: { T: '0' } }).nullable(),
        altimeter: column.real('Altimeter').nullable(),
      },
    },
  },
});

const readHeader = async (): Promise<string> => {
  const handle = await open(file);
  try {
    for await (const line of handle.readLines()) return line;
    throw new Error(`${file} is empty`);
  } finally {
    await handle.close();
  }
};

const decodeCompiled = async (): Promise<number> => {
  const line = await readHeader();
  const header = line.trim().split(',');
  const declared = bindPipeline(twenty, { directory: '.' }).tables[0] as SourceTableSpec;
  const table = { ...declared, ...declared.readings[0]! };
  const maker = createRowMaker(table, { name: file, header, lineEnd: 'lf', constants: {} });
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  const start = { byte: line.length + 1, line: 2, record: 1 };
  let rows = 0;
  const reads = readRange({ location: file, name: file, table: 'observation' }, start.byte, Infinity);
  const whole = { bytes: Infinity, rejects: 1 };
  for await (const { counts } of streamRows(maker, blockDecoder(maker), split, reads, start, whole)) {
    if (counts.rejected > 0) throw new Error('a generated record was rejected');
    rows += counts.copied;
  }
  return rows;
};

const decodeCsvParse = async (): Promise<number> => {
  const parser = createReadStream(file, { highWaterMark: 1 << 20 }).pipe(parse({ from_line: 2 }));
  let rows = 0;
  parser.on('data', () => {
    rows += 1;
  });
  await finished(parser);
  return rows;
};

const readInit = async (): Promise<number> => {
  const { tables } = await readForInit({ locations: [file], workingDirectory: '.' });
  return tables[0]!.records;
};

const ways: Readonly<Record<string, () => Promise<number>>> = {
  compiled: decodeCompiled,
  'csv-parse': decodeCsvParse,
  init: readInit,
};

const before = process.cpuUsage();
const start = performance.now();
const rows = await ways[decoder]!();
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ rows, seconds, cpuSeconds: (user + system) / 1e6 }));
