// The fast path is taken: of files as they are, the record scan and the row encoder take nearly all themselves. Both may
// leave anything to slower code, which gives the same rows, so no other test notices when they leave everything. Here and not
// among the unit tests, because those share their modules, which this one wraps.

import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { shapes } from '../../bench/shapes/shapes.ts';
import noaa from '../../pipelines/noaa.ts';
import type { ReadTable, SourceTableSpec } from '../../src/core/declaration.ts';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../src/format/rows/compiled-decoder.ts';
import type * as TextEncoders from '../../src/format/rows/text-encoder.ts';
import type * as Judges from '../../src/format/rows/record-judge.ts';
import type * as RecordEnds from '../../src/format/records/record-end.ts';
import { createSplitter } from '../../src/format/records/splitter.ts';
import { bindPipeline } from '../../src/pipeline/bind.ts';
import { column, type AnyColumn } from '../../src/pipeline/declare/column.ts';
import { when } from '../../src/pipeline/declare/filter.ts';
import { csv } from '../../src/pipeline/declare/csv.ts';
import { streamedOutcome } from '../unit/format/records/both-decoders.ts';
import { blocksOf, decodedFile, firstRead, startOfFile, tableOf } from '../unit/format/records/reading.ts';

/** What was left to slower code, counted where it is called. */
const left = vi.hoisted(() => ({ byteByByte: 0, judged: 0, fields: 0 }));

vi.mock('../../src/format/records/record-end.ts', async (original) => {
  const real = await original<typeof RecordEnds>();
  const recordAt: typeof real.recordAt = (...parameters) => {
    left.byteByByte += 1;
    return real.recordAt(...parameters);
  };
  return { ...real, recordAt };
});

vi.mock('../../src/format/rows/record-judge.ts', async (original) => {
  const real = await original<typeof Judges>();
  const createRecordJudge: typeof real.createRecordJudge = (...parameters) => {
    const judge = real.createRecordJudge(...parameters);
    return (block, from, to, take) => {
      left.judged += to - from;
      judge(block, from, to, take);
    };
  };
  return { ...real, createRecordJudge };
});

vi.mock('../../src/format/rows/text-encoder.ts', async (original) => {
  const real = await original<typeof TextEncoders>();
  const createTextEncoder: typeof real.createTextEncoder = (...parameters) => {
    const encode = real.createTextEncoder(...parameters);
    return (...field) => {
      left.fields += 1;
      return encode(...field);
    };
  };
  return { ...real, createTextEncoder };
});

beforeEach(() => Object.assign(left, { byteByByte: 0, judged: 0, fields: 0 }));

const blockBytes = 1 << 18;

/** Splits and decodes a file in blocks, and says which share of records and fields was left to slower code. */
const sharesLeft = async (
  table: ReadTable,
  file: Buffer,
  constants: Readonly<Record<string, string>> = {},
) => {
  const { delimiter, header: names } = table.format.dialect;
  const dataAt = names === true ? file.indexOf('\n') + 1 : 0;
  // With `auto`, also that of a file of CRLF.
  const lineEnd = 'lf';
  const firstLine = file.toString('utf8', 0, file.indexOf('\n')).trim().split(delimiter);
  const header = typeof names === 'object' ? names : firstLine.map((name) => (names ? name : ''));
  const data = file.subarray(dataAt);
  const pieces = Array.from({ length: Math.ceil(data.length / blockBytes) }, (_, index) =>
    data.subarray(index * blockBytes, (index + 1) * blockBytes),
  );
  const blocks = await blocksOf(pieces, createSplitter(table.format.dialect, header.length, lineEnd));
  const asText = table.columns.some(({ type }) => type === 'of') ? encodeTextRow : undefined;
  const decoded = decodedFile(header, lineEnd, 'f', constants);
  const decode = createCompiledDecoder(table, decoded, asText);
  const records = blocks.map((block) => decode(block).counts.records).reduce((sum, each) => sum + each, 0);
  const shares = () => ({
    records,
    byteByByte: left.byteByByte / records,
    judged: left.judged / records,
    fields: left.fields / records / table.columns.length,
  });
  const inBlocks = shares();
  Object.assign(left, { byteByByte: 0, judged: 0, fields: 0 });
  const streamed = await streamedOutcome(pieces, startOfFile, table, decoded, asText);
  if (streamed === undefined) return inBlocks;
  expect(streamed.counts.records).toBe(records);
  // Of the two ways, the slower one counts.
  const inStream = shares();
  return {
    records,
    byteByByte: Math.max(inBlocks.byteByByte, inStream.byteByByte),
    judged: Math.max(inBlocks.judged, inStream.judged),
    fields: Math.max(inBlocks.fields, inStream.fields),
  };
};

describe('of the files of the example', () => {
  const declared = bindPipeline(noaa as never, { directory: 'pipelines' }).tables as SourceTableSpec[];
  const tables = declared.filter(({ kind }) => kind === 'source').map(firstRead);
  const files = readdirSync('data/noaa').filter((name) => /hourly|station/.test(name));

  it.each(files)('%s less than 1 % of the records is left', async (name) => {
    const table = tables.find((each) => name.includes(each.name === 'station' ? 'station' : 'hourly'))!;
    const shares = await sharesLeft(table, readFileSync(`data/noaa/${name}`));
    expect(shares.records).toBeGreaterThan(500);
    expect(shares.byteByByte).toBeLessThan(0.01);
    expect(shares.judged).toBeLessThan(0.01);
    expect(shares.fields).toBeLessThan(0.01);
  });
});

describe('of tables as people have them', () => {
  it.each(shapes)('$name, less than 1 % is left', async ({ pipeline, files }) => {
    const [table] = bindPipeline(pipeline, { directory: '/' }).tables as SourceTableSpec[];
    const lines = files.lines(1);
    let text = files.headerLine;
    while (text.length < 1e6) text += lines.next().value.join('');
    const { byteByByte, judged, fields } = await sharesLeft(firstRead(table!), Buffer.from(text));
    expect(byteByByte).toBeLessThan(0.01);
    expect(judged).toBeLessThan(0.01);
    expect(fields).toBeLessThan(0.01);
  });
});

describe('of files that differ from others of their table', () => {
  it('relaxed names, positions, constants, parts of the path, missing and surplus fields, less than 1 % is left', async () => {
    const columns = {
      id: column.bigint('ID'),
      day: column.date({ from: ['day', 'Made On'] }),
      named: column.text([{ path: /f/ }, 'made on']),
      note: column.text(3),
      region: column.text('region'),
      gone: column.integer('gone').nullable(),
      both: column.text(['region', 3]),
    };
    const table = tableOf(
      { match: 'relaxed', ragged: 'cut' },
      {
        source: csv([{ path: 'f', constants: { region: 'né' } }], { match: 'relaxed', ragged: 'cut' }),
        columns,
        missing: 'null',
      },
    );
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n},2011-01-31,"a ""note"" of ${n}",\n`);
    const file = Buffer.from(`id,made_on,text\n${lines.join('')}`);
    const shares = await sharesLeft(table, file, { region: 'né' });
    expect(shares.records).toBe(5_000);
    expect(shares.byteByByte).toBeLessThan(0.01);
    expect(shares.judged).toBeLessThan(0.01);
    expect(shares.fields).toBeLessThan(0.01);
  });
});

describe('of a dump in the text format of COPY', () => {
  it('less than 1 % is left, for nulls as for values', async () => {
    const columns = { id: column.integer(1), note: column.text(2).nullable(), at: column.date(3).nullable() };
    const options = { escapes: 'postgres' as const, delimiter: '\t', header: false };
    const table = tableOf(options, { columns, filter: when((fields) => fields[2] !== 'x', [2]) });
    const lines = Array.from(
      { length: 5_000 },
      (_, n) => `${n}\t${n % 2 ? 'a' : '\\N'}\t${n % 3 ? '2011-01-31' : '\\N'}\n`,
    );
    const shares = await sharesLeft(table, Buffer.from(lines.join('')));
    expect(shares.byteByByte).toBeLessThan(0.01);
    expect(shares.judged).toBeLessThan(0.01);
    expect(shares.fields).toBeLessThan(0.01);
  });
});

describe('of generated files', () => {
  const columns = {
    id: column.bigint('id'),
    made: column.timestamp('made', { format: 'YYYY-MM-DD HH:mm:ss' }),
    day: column.date('day'),
    price: column.numeric('price', { precision: 10, scale: 2 }),
    rate: column.double('rate').nullable(),
    share: column.real('share'),
    pieces: column.smallint('pieces'),
    country: column.varchar('country', { length: 2 }),
    note: column.text('note').nullable(),
  };
  const table = tableOf({ nulls: [''] }, { columns });
  const fileOf = (note: (n: number) => string): Buffer => {
    const rows = Array.from({ length: 5_000 }, (_, n) => {
      const day = `2011-01-${10 + (n % 20)}`;
      return `${n * 7919},${day} 00:${10 + (n % 50)}:00,${day},${n}.${10 + (n % 90)},${n / 8},-${n % 9}.5,${n % 99},DE,${note(n)}`;
    });
    return Buffer.from(`id,made,day,price,rate,share,pieces,country,note\n${rows.join('\n')}\n`);
  };

  it.each([
    { name: 'plain', note: (n: number) => `note ${n}` },
    { name: 'of quoted texts, with delimiters, quotes and lines', note: (n: number) => `"a, ""${n}""\nb"` },
    { name: 'of texts beyond ASCII', note: (n: number) => `Größe ${n}` },
  ])('$name, nothing is left', async ({ note }) => {
    expect(await sharesLeft(table, fileOf(note))).toEqual({
      records: 5_000,
      // The last record of a block may be looked at before its end is read.
      byteByByte: expect.closeTo(0, 2) as number,
      judged: 0,
      fields: 0,
    });
  });

  it('with rules, nothing is left', async () => {
    const ruled = tableOf(
      { nulls: [''] },
      {
        columns: {
          id: columns.id.min(0).max(10n ** 12n),
          made: columns.made.min('2011-01-01T00:00').max('2011-12-31T23:59:59'),
          day: columns.day.min('2011-01-01'),
          price: columns.price.min(0).max('99999.99'),
          rate: columns.rate.min(0).max(1e9),
          share: columns.share.min(-100).max(0),
          pieces: columns.pieces.min(0).max(98),
          country: columns.country.oneOf(['AT', 'CH', 'DE']).length(2),
          note: columns.note.length({ min: 3, max: 80 }),
        },
      },
    );
    const shares = await sharesLeft(
      ruled,
      fileOf((n) => `note ${n}`),
    );
    expect(shares).toMatchObject({ judged: 0, fields: 0 });
  });

  it('with a column that the server reads, nothing is left', async () => {
    const served = { ...columns, note: column.of('citext', 'note'), country: columns.country.oneOf(['DE']) };
    const { made: _, ...others } = served;
    const asText = tableOf({ nulls: [''] }, { columns: others });
    const shares = await sharesLeft(
      asText,
      fileOf((n) => `a\\b ${n}`),
    );
    expect(shares).toMatchObject({ judged: 0, fields: 0 });
  });

  it('with functions, nothing is left of the other columns', async () => {
    const withFunctions = {
      ...columns,
      pieces: column.smallint('pieces').check((value) => value >= 0, 'must be positive'),
      note: column.text('note').map((text) => text.toUpperCase()),
    };
    const called = tableOf({ nulls: [''] }, { columns: withFunctions });
    const shares = await sharesLeft(
      called,
      fileOf((n) => `note ${n}`),
    );
    expect(shares).toMatchObject({ judged: 0, fields: 2 / 9 });
  });

  it('of dates and times in the usual spellings, nothing is left', async () => {
    const ofPatterns = {
      us: column.timestamp('us', { format: 'M/D/YYYY H:mm' }),
      half: column.time('half', { format: 'hh:mm A' }),
      log: column.timestamptz('log', { format: 'DD/MMM/YYYY:HH:mm:ss Z' }),
      short: column.date('short', { format: ['YYYYMMDD', 'D-MMM-YY', 'DD.MM.YYYY'] }),
      glued: column.timestamp(['day', 'clock'], { separator: ' ' }),
    };
    const iso = {
      created: column.timestamptz('created'),
      updated: column.timestamp('updated').nullable(),
      local: column.timestamptz('local', { zone: '+01:00' }),
      day: column.date('day'),
      clock: column.time('clock'),
    };
    const ofMoments = tableOf({ nulls: [''] }, { columns: { ...iso, ...ofPatterns } });
    const rows = Array.from({ length: 5_000 }, (_, n) => {
      const at = new Date(Date.UTC(1990, 0, 1) + n * 86_461_017);
      const text = at.toISOString();
      const [day, clock, seconds] = [text.slice(0, 10), text.slice(11, 23), text.slice(11, 19)];
      const [year, month, date] = day.split('-').map(Number) as [number, number, number];
      const name = 'JanFebMarAprMayJunJulAugSepOctNovDec'.slice(3 * month - 3, 3 * month);
      return [
        n % 2 === 0 ? text : `${day} ${clock}+0${n % 10}:30`,
        n % 3 === 0 ? '' : `${day} ${seconds}${n % 2 === 0 ? '.1230000' : ''}`,
        `${day}T${seconds.slice(0, 5)}`,
        day,
        clock,
        `${month}/${date}/${year} ${at.getUTCHours()}:${seconds.slice(3, 5)}`,
        `${String(1 + (n % 12)).padStart(2, '0')}:${seconds.slice(3, 5)} ${n % 2 === 0 ? 'AM' : 'pm'}`,
        `${day.slice(8)}/${name}/${year}:${seconds} -0${n % 10}00`,
        `${date}-${name.toUpperCase()}-${day.slice(2, 4)}`,
      ].join(',');
    });
    const file = Buffer.from(`created,updated,local,day,clock,us,half,log,short\n${rows.join('\n')}\n`);
    const { judged, fields } = await sharesLeft(ofMoments, file);
    expect({ judged, fields }).toEqual({ judged: 0, fields: 0 });
  });

  it('what is irregular is counted as left', async () => {
    const file = fileOf((n) => (n % 2 === 0 ? 'stray " quote' : 'plain'));
    const { byteByByte, judged } = await sharesLeft(table, file);
    expect(byteByByte).toBeGreaterThan(0.4);
    expect(judged).toBeGreaterThan(0.4);
  });
});

describe('of files with the spellings that ordinary tables have', () => {
  type Spelled = readonly [
    columns: Readonly<Record<string, AnyColumn>>,
    values: (n: number) => readonly string[],
  ];
  const hex = (n: number): string => String(n).padStart(12, 'a');
  const tables: Readonly<Record<string, Spelled>> = {
    'uuid and boolean': [
      {
        hyphens: column.uuid('hyphens'),
        braces: column.uuid('braces'),
        bare: column.uuid('bare'),
        words: column.boolean('words'),
        own: column.boolean('own', { true: ['ja'], false: ['nein'] }).nullable(),
        other: column.boolean('other', { true: ['X'], else: false }),
      },
      (n) => [
        `01234567-89ab-cdef-0123-${hex(n)}`,
        `{01234567-89AB-CDEF-0123-${hex(n)}}`,
        `0123456789abcdef0123${hex(n)}`,
        ['true', 'FALSE', 't', '0'][n % 4]!,
        ['ja', '', 'nein'][n % 3]!,
        ['X', 'x', 'anything'][n % 3]!,
      ],
    ],
    'text and json': [
      {
        note: column.text('note'),
        name: column.varchar('name', { length: 12 }),
        kept: column.json('kept'),
        event: column.jsonb('event'),
        glued: column.jsonb(['open', 'shut']),
      },
      (n) => [
        `Größe ${n}`,
        `日本語 ÄÖ ${n}`,
        `"\\ud800${n}"`,
        JSON.stringify(
          { id: n, name: 'é "ü" \n 😀', price: n / 8, tags: ['a', null, true], empty: [{}, []] },
          null,
          n % 3,
        ),
        `{"a": [${n}`,
        `, -1.5e-3], "\\u00e4\\ud83d\\ude00": {"b": false}}`,
      ],
    ],
    numbers: [
      {
        id: column.bigint('id'),
        signed: column.integer('signed'),
        groups: column.integer('groups', { thousands: '\u202f' }),
        any: column.numeric('any'),
        long: column.numeric('long', { precision: 38, scale: 10 }),
        money: column.numeric('money', { precision: 10, scale: 2 }),
        rounded: column.numeric('rounded', { precision: 5, scale: 2, round: true }),
        euro: column.numeric('euro', { precision: 12, scale: 2, decimal: ',', thousands: '.' }),
        comma: column.real('comma', { decimal: ',' }),
        small: column.double('small'),
      },
      (n) => [
        `${9_000_000_000_000_000_000n + BigInt(n)}`,
        `+${n}`,
        n.toLocaleString('fr-FR'),
        `${n}.${'7'.repeat(n % 20)}`,
        `-${'123456789'.repeat(3)}${n % 10}.${String(n).padStart(10, '0')}`,
        `${n}.5000`,
        `${n % 900}.${n}5`,
        `${(1_000 * n).toLocaleString('de-DE')},50`,
        `${n},${n}`,
        `${n}.5e-${n % 30}`,
      ],
    ],
  };

  it.each(Object.entries(tables))('%s, nothing is left', async (_name, [columns, values]) => {
    const fields = (texts: readonly string[]): string =>
      `${texts.map((text) => `"${text.replaceAll('"', '""')}"`).join('|')}\n`;
    const header = Object.keys(columns).flatMap((name) => (name === 'glued' ? ['open', 'shut'] : [name]));
    const lines = Array.from({ length: 5_000 }, (_, n) => fields(values(n)));
    const file = Buffer.from(`${header.join('|')}\n${lines.join('')}`);
    const shares = await sharesLeft(tableOf({ delimiter: '|', nulls: [''] }, { columns }), file);
    expect(shares).toMatchObject({ records: 5_000, judged: 0, fields: 0 });
  });
});
