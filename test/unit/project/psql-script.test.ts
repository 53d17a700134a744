// The script for psql that the benchmark derives from a table's columns. test/integration/bench-table.test.ts runs such scripts.

import { describe, expect, it } from 'vitest';
import { deriveScript, headerOf, specOf } from '../../../bench/derive-script.ts';
import { column, csv, definePipeline, index, path, present } from '../../../src/index.ts';
import type { CsvOptions } from '../../../src/pipeline/declare/csv.ts';
import type { AnyColumn } from '../../../src/pipeline/declare/column.ts';

const specFor = (columns: Readonly<Record<string, AnyColumn>>, options: CsvOptions = {}, more: object = {}) =>
  specOf(
    definePipeline({
      name: 'measured',
      schema: 'measured',
      tables: { t: { source: csv('t.csv', options), columns, ...more } as never },
    }),
  );

describe('a column', () => {
  it.each<readonly [column: AnyColumn, type: string, dateStyle: string]>([
    [column.numeric('a', { precision: 5, scale: 1 }), 'numeric(5,1)', ''],
    [column.date('a', { format: 'DD.MM.YYYY' }), 'date', 'dmy'],
    [column.timestamp('a', { format: 'M/D/YYYY hh:mm A' }), 'timestamp', 'mdy'],
    [column.timestamptz('a', { format: 'YYYY-MM-DD HH:mm:ssZ' }), 'timestamptz', ''],
    [column.boolean('a', { true: ['Y'], false: ['N'] }), 'boolean', ''],
  ])('is loaded in its type where the server reads the text: %#', (declared, type, dateStyle) => {
    const script = deriveScript(specFor({ v: declared }), ['a']);
    expect(script).toMatchObject({ loaded: `"v" ${type}` });
    expect(script.casts).toBeUndefined();
    expect(script.settings ?? '').toBe(dateStyle && `set datestyle = iso, ${dateStyle}`);
  });

  it.each<readonly [column: AnyColumn, cast: string]>([
    [column.boolean('a', { true: ['ja', 'si'], false: ['x'] }), `("f1" in ('ja', 'si'))`],
    [column.double('a', { decimal: ',', thousands: '.' }), `translate("f1", ',.', '.')::double precision`],
    [column.real('a', { percent: 'share' }), `(rtrim("f1", ' %')::numeric * 0.01)::real`],
    [column.timestamp('a', { format: 'YYYYMMDDHHmm' }), `to_timestamp("f1", 'YYYYMMDDHH24MI')::timestamp`],
    [column.timestamptz('a', { zone: 'Europe/Berlin' }), `("f1"::timestamp at time zone 'Europe/Berlin')`],
    [column.integer('a').nulls(['-']).nullable(), `nullif("f1", '-')::integer`],
    [column.integer('a').default(7), `coalesce("f1"::integer, '7'::integer)`],
    [column.integer('a').tokens({ T: '0' }), `(case "f1" when 'T' then '0' else "f1" end)::integer`],
  ])('is text with a cast otherwise: %#', (declared, cast) => {
    expect(deriveScript(specFor({ v: declared }), ['a'])).toMatchObject({
      loaded: '"f1" text',
      casts: `${cast} as "v"`,
    });
  });

  it('that joins fields, and fields that nothing reads, are loaded as text', () => {
    const spec = specFor({ v: column.text(['a', 'c'], { separator: ' ' }), n: column.integer('d') });
    expect(deriveScript(spec, ['a', 'b', 'c', 'd'])).toEqual({
      copy: 'format csv, header',
      loaded: '"f1" text, "f2" text, "f3" text, "n" integer',
      casts: `("f1" || ' ' || "f3") as "v", "n"`,
      finish: [],
    });
  });

  it.each<{ why: string; columns: Readonly<Record<string, AnyColumn>>; options?: CsvOptions; more?: object }>(
    [
      { why: 'column v: it calls a function', columns: { v: column.text('a').map((text) => text) } },
      { why: 'column v: a field is missing', columns: { v: column.text(path(/x/)) } },
      {
        why: 'column v: it has several formats',
        columns: { v: column.date('a', { format: ['YYYY-MM-DD', 'DD.MM.YYYY'] }) },
      },
      { why: 'lines are skipped', columns: { v: column.text('a') }, options: { skipLines: 1 } },
      {
        why: 'COPY lacks an option of the dialect',
        columns: { v: column.text('a') },
        options: { ragged: 'pad' },
      },
      { why: 'the encoding detect', columns: { v: column.text('a') }, options: { encoding: 'detect' } },
      { why: 'a filter', columns: { v: column.text('a') }, more: { filter: [present('a')] } },
      {
        why: 'dates with the day first, and with the month first',
        columns: {
          v: column.date('a', { format: 'DD/MM/YYYY' }),
          w: column.date('b', { format: 'MM/DD/YYYY' }),
        },
      },
    ],
  )('has no script: $why', ({ why, columns, options, more }) => {
    expect(() => deriveScript(specFor(columns, options, more), ['a', 'b'])).toThrow(why);
  });
});

describe('a dialect', () => {
  const text = { v: column.text('a').nullable() };

  it.each<readonly [options: CsvOptions, copy: string]>([
    [{}, 'format csv, header, force_null ("v")'],
    [{ quotedNulls: false }, 'format csv, header'],
    [
      { delimiter: '\t', quote: null, nulls: ['\\N'] },
      `format csv, header, delimiter E'\\x09', null '\\N', quote E'\\x01'`,
    ],
    [
      { header: ['a'], escape: '\\', delimiter: ';' },
      `format csv, delimiter ';', escape '\\', force_null ("v")`,
    ],
    [{ escapes: 'postgres', delimiter: '\t', header: ['a'] }, 'format text'],
    [
      { encoding: 'windows-1252', quote: "'" },
      `format csv, header, quote '''', force_null ("v"), encoding 'windows-1252'`,
    ],
  ])('%j', (options, copy) => {
    expect(deriveScript(specFor(text, options), ['a']).copy).toBe(copy);
  });

  it('with several null tokens, casts do all but one', () => {
    const { casts } = deriveScript(specFor(text, { nulls: ['NA', ''] }), ['a']);
    expect(casts).toBe(`nullif("f1", 'NA') as "v"`);
  });

  it.each<readonly [options: CsvOptions, beginning: string, header: readonly string[]]>([
    [{}, '\u{FEFF}a,"b, c"\n1,2\n', ['a', 'b, c']],
    [{ header: false, delimiter: ';', quote: null }, '1;"2\n', ['', '']],
    [{ header: ['x', 'y'] }, '1,2\n', ['x', 'y']],
  ])('names fields: %j', (options, beginning, header) => {
    expect(headerOf(specFor({ v: column.text(1) }, options), beginning)).toEqual(header);
  });
});

it('keys and indexes are made after the rows', () => {
  const columns = { id: column.integer('id'), at: column.date('at') };
  const more = {
    primaryKey: ['id'],
    indexes: [index('at', { using: 'brin' }), index('id', { where: 'id > 1' })],
  };
  expect(deriveScript(specFor(columns, {}, more), ['id', 'at']).finish).toEqual([
    'alter table $ add primary key ("id")',
    'create index on $ using brin ("at")',
    'create index on $ using btree ("id") where id > 1',
  ]);
});
