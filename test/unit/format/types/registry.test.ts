// The list of types: complete, named by key, and each type reads back its own values.

import { describe, expect, it } from 'vitest';
import type { ColumnOptions } from '../../../../src/core/declaration.ts';
import {
  canonicalReader,
  columnTypes,
  typeOf,
  type ColumnTypeName,
} from '../../../../src/format/types/registry.ts';

const sql: Readonly<Record<ColumnTypeName, readonly [ColumnOptions, string]>> = {
  text: [{}, 'text'],
  varchar: [{ length: 5 }, 'varchar(5)'],
  smallint: [{}, 'smallint'],
  integer: [{}, 'integer'],
  bigint: [{}, 'bigint'],
  real: [{}, 'real'],
  double: [{}, 'double precision'],
  numeric: [{ precision: 8, scale: 5 }, 'numeric(8,5)'],
  boolean: [{}, 'boolean'],
  date: [{}, 'date'],
  time: [{}, 'time'],
  timestamp: [{}, 'timestamp'],
  timestamptz: [{}, 'timestamptz'],
  uuid: [{}, 'uuid'],
  json: [{}, 'json'],
  jsonb: [{}, 'jsonb'],
  bytea: [{ encoding: 'base64' }, 'bytea'],
  of: [{ sqlType: 'citext' }, 'citext'],
};

describe('columnTypes', () => {
  it('has every type of this table', () =>
    expect(Object.keys(columnTypes).sort()).toEqual(Object.keys(sql).sort()));

  it.each(Object.entries(sql).map(([name, [options, text]]) => ({ name, options, text })))(
    '$name is $text in DDL',
    ({ name, options, text }) => expect(typeOf({ type: name }).sql(options)).toBe(text),
  );
});

describe('canonicalReader reads values whatever the file looks like', () => {
  const rows: readonly (readonly [ColumnTypeName, ColumnOptions, unknown, string])[] = [
    ['double', { decimal: ',', thousands: '.' }, 1234.5, '1234.5'],
    ['numeric', { precision: 6, scale: 2, decimal: ',' }, '1.50', '1.50'],
    ['integer', { thousands: ',' }, 1234567, '1234567'],
    ['boolean', { true: ['Ja'], false: ['Nein'] }, false, 'f'],
    ['date', { format: 'D.M.YYYY' }, new Date(0), '1970-01-01'],
    ['timestamptz', { format: 'YYYYMMDD', zone: 'UTC' }, new Date(0), '1970-01-01T00:00:00.000Z'],
  ];
  it.each(rows.map(([name, options, value, text]) => ({ name, options, value, text })))(
    '$name $text',
    ({ name, options, value, text }) => {
      const type = typeOf({ type: name });
      expect(canonicalReader(type, options)(type.fromValue(value)!)).toBe(text);
    },
  );

  it('keeps the limits of the column', () => {
    const read = canonicalReader(columnTypes.numeric, { precision: 4, scale: 2, decimal: ',' });
    expect(read('123.4')).toMatchObject({ code: 'range' });
  });
});
