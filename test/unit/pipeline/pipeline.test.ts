// A valid declaration becomes plain frozen data with defaults and bound parameters.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SourceTableSpec } from '../../../src/core/declaration.ts';
import {
  column,
  csv,
  definePipeline,
  index,
  oneOf,
  present,
  sqlFile,
  when,
} from '../../../src/pipeline/authoring.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import type { AnyColumn } from '../../../src/pipeline/declare/column.ts';

const source = csv('a.csv');
const sql = sqlFile('a.sql');

const sourceTable = (table: object): SourceTableSpec => {
  const declared = { source, columns: { a: column.text('A') }, ...table };
  const pipeline = definePipeline({ name: 'p', schema: 's', tables: { t: declared } });
  return bindPipeline(pipeline, { directory: '/d' }).tables[0] as SourceTableSpec;
};
const columnOf = (made: AnyColumn) => sourceTable({ columns: { a: made } }).columns[0]!;

const allFrozen = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(allFrozen));

const test = (): boolean => true;
const map = (text: string): string => text;

describe('defaults', () => {
  it('fills in every key of a table', () =>
    expect(sourceTable({})).toEqual({
      kind: 'source',
      name: 't',
      readings: [
        {
          source: {
            locations: ['a.csv'],
            constants: {},
            skipEnd: 0,
            anywhere: false,
            options: {},
            maxRatio: 1000,
            maxBytes: 2 ** 40,
            arrival: { settle: 2, ready: null, lastLine: 'any', onBadFile: null },
          },
          format: {
            kind: 'csv',
            encoding: 'utf-8',
            dialect: {
              delimiter: ',',
              quote: '"',
              escape: '"',
              header: true,
              nulls: [''],
              quotedNulls: true,
              quotes: 'strict',
              headerLines: 1,
              escapes: null,
              lineEnd: 'auto',
              match: 'exact',
              trim: false,
              skipLines: 0,
              comment: null,
              comments: 'lines',
              ragged: 'reject',
            },
          },
        },
      ],
      staging: 'typed',
      columns: [
        {
          name: 'a',
          type: 'text',
          options: {},
          headers: ['A'],
          separator: '',
          nullable: false,
          nulls: [],
          tokens: {},
          default: undefined,
          map: undefined,
          rules: [],
          checks: [],
          schema: undefined,
        },
      ],
      filter: [],
      rejectLimit: { kind: 'count', records: 0 },
      transform: undefined,
      primaryKey: [],
      indexes: [],
      publish: 'replace',
      comment: undefined,
      missing: 'error',
      extra: 'ignore',
      guard: { rowsMin: 0, shrinkMaxPercent: 50 },
    }));

  it.each([
    ['the escape follows the quote', { quote: "'" }, { quote: "'", escape: "'" }],
    ['without quotes there is no escape', { quote: null }, { quote: null, escape: null }],
    ['UTF-8 may be said', { encoding: 'utf-8' as const }, { delimiter: ',' }],
    ['names for a file without header', { header: ['A', 'B'] }, { header: ['A', 'B'] }],
  ])('csv: %s', (_, options, dialect) => {
    expect(sourceTable({ source: csv(['a.csv', 'b.csv'], options) })).toMatchObject({
      readings: [{ source: { locations: ['a.csv', 'b.csv'] }, format: { dialect } }],
    });
  });

  it.each([
    { limit: 3, read: { kind: 'count', records: 3 } },
    { limit: '0.1%', read: { kind: 'percent', percent: 0.1 } },
    { limit: '100%', read: { kind: 'percent', percent: 100 } },
  ])('rejectLimit $limit', ({ limit, read }) =>
    expect(sourceTable({ rejectLimit: limit }).rejectLimit).toEqual(read),
  );

  it.each([
    { guard: false, read: { rowsMin: 0, shrinkMaxPercent: 100 } },
    { guard: { rowsMin: 10 }, read: { rowsMin: 10, shrinkMaxPercent: 50 } },
    { guard: { shrinkMax: '0.5%' }, read: { rowsMin: 0, shrinkMaxPercent: 0.5 } },
  ])('guard $guard', ({ guard, read }) => expect(sourceTable({ guard }).guard).toEqual(read));
});

describe('columns', () => {
  const schema = z.enum(['AA', 'SP']);
  it.each([
    [
      'glued headers',
      column.date(['Y', 'M'], { separator: '-' }),
      { headers: ['Y', 'M'], separator: '-', options: {} },
    ],
    [
      'options of the type',
      column.numeric('A', { precision: 8, scale: 5 }),
      { options: { precision: 8, scale: 5 } },
    ],
    ['the name of another type', column.of('citext', 'A'), { type: 'of', options: { sqlType: 'citext' } }],
    [
      'nulls as option and modifier',
      column
        .text('A', { nulls: ['M'] })
        .nulls(['VR'])
        .nulls(['M']),
      { nulls: ['M', 'VR'], options: {} },
    ],
    [
      'tokens as option and modifier',
      column.real('A', { tokens: { T: '0' } }).tokens({ M: '1' }),
      { tokens: { T: '0', M: '1' } },
    ],
    ['a default as text', column.integer('A').default(7), { default: '7' }],
    [
      'a default in the server’s own spelling, whatever the file uses',
      column.numeric('A', { decimal: ',' }).default('1.5'),
      { default: '1.5' },
    ],
    [
      'a default and bounds of values, not of texts in per cent',
      column.numeric('A', { percent: 'share' }).default('0.5').min(0).max('1'),
      {
        default: '0.5',
        rules: [
          { kind: 'min', bound: '0' },
          { kind: 'max', bound: '1' },
        ],
      },
    ],
    [
      'a default and a bound in ISO 8601, whatever the formats',
      column
        .date('A', { format: ['M/D/YYYY', 'M/D/YYYY H:mm'], time: 'drop' })
        .default('2011-01-31')
        .min('2011-01-01'),
      { default: '2011-01-31', rules: [{ kind: 'min', bound: '2011-01-01' }] },
    ],
    [
      'checks in order',
      column.text('A').check(test, 'one').check(test, 'two'),
      {
        checks: [
          { test, message: 'one' },
          { test, message: 'two' },
        ],
      },
    ],
    ['map and schema', column.text('A').map(map).zod(schema), { map, schema }],
    ['a nullable column', column.text('A').nullable(), { nullable: true }],
  ])('%s', (_, made, is) => expect(columnOf(made as AnyColumn)).toMatchObject(is));

  it('modifiers do not change the column on which they are called', () => {
    const plain = column.text('A');
    plain.nullable().nulls(['M']).default('x');
    expect(columnOf(plain)).toMatchObject({ nullable: false, nulls: [], default: undefined });
  });
});

describe('indexes and filters', () => {
  const long = 'a_rather_long_column_name_that_goes_on';
  it.each([
    {
      name: 'one column',
      made: index('a'),
      is: { name: 't_a_idx', columns: ['a'], using: 'btree', unique: false, include: [] },
    },
    {
      name: 'a name of its own',
      made: index(['a', long], { name: 'mine', include: ['b'], where: 'a > 0' }),
      is: { name: 'mine', include: ['b'], where: 'a > 0' },
    },
    {
      name: 'a long name is cut and kept distinct',
      made: index([long, 'a', long.slice(0, -1)]),
      is: { name: 't_a_rather_long_column_name_that_goes_on_a_a_rathe_7983f029_idx' },
    },
  ])('index: $name', ({ made, is }) => {
    const columns = {
      a: column.text('A'),
      b: column.text('B'),
      [long]: column.text('L'),
      [long.slice(0, -1)]: column.text('C'),
    };
    const [spec] = sourceTable({ columns, indexes: [made] }).indexes;
    expect(spec).toMatchObject(is);
    expect(spec!.name.length).toBeLessThanOrEqual(63);
  });

  it.each([
    { name: 'one', filter: present('A'), is: [{ kind: 'present', header: 'A' }] },
    {
      name: 'several',
      filter: [oneOf('A', ['x']), when(test, ['B'])],
      is: [
        { kind: 'oneOf', header: 'A', values: ['x'] },
        { kind: 'when', headers: ['B'], test },
      ],
    },
  ])('filter: $name', ({ filter, is }) => expect(sourceTable({ filter }).filter).toEqual(is));
});

it('is frozen all the way down, before and after it is bound', () => {
  const pipeline = definePipeline({
    name: 'p',
    schema: 's',
    tables: {
      a: {
        source,
        columns: { a: column.text('A').default('x') },
        filter: oneOf('A', ['x']),
        indexes: [index('a')],
      },
      b: { from: ['a'], transform: sql },
    },
  });
  expect(allFrozen(pipeline)).toBe(true);
  expect(allFrozen(bindPipeline(pipeline, { directory: '/d' }))).toBe(true);
});
