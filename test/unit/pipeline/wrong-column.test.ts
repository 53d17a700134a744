// The exact error text of every mistake in a column.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, oneOf } from '../../../src/pipeline/authoring.ts';
import {
  columns,
  js,
  knownTypes,
  problemsOf,
  source,
  withColumn,
  withTable,
  type Case,
} from './wrong-definitions.ts';

const loose = (made: unknown) => made as Record<string, () => unknown>;

/** Calls a modifier, which need not exist. */
const modified = (made: unknown, name: string, ...given: unknown[]): unknown =>
  (made as Record<string, (...args: unknown[]) => unknown>)[name]!(...given);

const wrongRule = (made: unknown, name: string, given: unknown, problem: string): Case => ({
  name: problem,
  definition: withColumn(modified(made, name, given)),
  problems: [`table obs, column wind: ${problem}`],
});

const smallint = column.smallint('Wind');
const text = column.text('Wind');
const ruleCases: readonly Case[] = [
  wrongRule(smallint, 'min', 'low', "min must be a value of type smallint, not 'low'"),
  wrongRule(smallint, 'max', 0.5, 'max must be a value of type smallint, not 0.5: "0.5" is not a smallint'),
  wrongRule(smallint, 'max', undefined, 'max must be a value of type smallint, not undefined'),
  wrongRule(smallint.max(3), 'min', 4, 'min 4 is above max 3: no value would pass'),
  wrongRule(column.real('Wind'), 'max', NaN, 'NaN is not a bound, because no value can be compared with it'),
  wrongRule(
    text,
    'min',
    'a',
    'min does not apply to this column: text has no order; .length limits its characters',
  ),
  wrongRule(column.boolean('Wind'), 'max', true, 'max does not apply to this column: boolean has no order'),
  wrongRule(
    column.jsonb('Wind'),
    'oneOf',
    [1],
    'oneOf does not apply to this column: jsonb does not compare values',
  ),
  wrongRule(smallint, 'length', 2, 'length does not apply to this column: smallint is not a text'),
  wrongRule(column.date('Wind'), 'pattern', /a/, 'pattern does not apply to this column: date is not a text'),
  wrongRule(text, 'pattern', 'a', "pattern must be a RegExp without the flags g and y, not 'a'"),
  wrongRule(text, 'pattern', /a/g, 'pattern must be a RegExp without the flags g and y, not an object'),
  wrongRule(
    text,
    'length',
    '3',
    "length must be a number of characters, or an object such as { min: 1, max: 80 }, not '3'",
  ),
  wrongRule(
    text,
    'length',
    {},
    'length must be a number of characters, or an object such as { min: 1, max: 80 }, not an object',
  ),
  wrongRule(text, 'length', { min: 3, max: 2 }, 'length has a min above its max: no text would pass'),
  wrongRule(text, 'oneOf', [], 'oneOf must be a list of at least one value, not an empty list'),
  wrongRule(text, 'oneOf', 'a', "oneOf must be a list of at least one value, not 'a'"),
  wrongRule(smallint, 'oneOf', [1, 'b'], "oneOf[1] must be a value of type smallint, not 'b'"),
  {
    name: 'a default that breaks a rule',
    definition: withColumn(smallint.min(5).default(4)),
    problems: [
      "table obs, column wind: default '4' does not pass the column's own check: must be at least 5",
    ],
  },
];

const columnCases: readonly Case[] = [
  {
    name: 'a misspelt type',
    definition: withColumn(js.strnig!('Wind')),
    problems: [
      `table obs, column wind: unknown column type \`strnig\`; did you mean \`text\`? ${knownTypes}`,
    ],
  },
  {
    name: 'a type name of another database',
    definition: withColumn(js.datetime!('Wind')),
    problems: [
      `table obs, column wind: unknown column type \`datetime\`; did you mean \`timestamp\`? ${knownTypes}`,
    ],
  },
  {
    name: 'a type name between two of ours',
    definition: withColumn(js.timestampz!('Wind')),
    problems: [
      `table obs, column wind: unknown column type \`timestampz\`; did you mean \`timestamptz\`? ${knownTypes}`,
    ],
  },
  {
    name: 'misspelt modifiers, among others',
    definition: withColumn(loose(loose(column.text('Wind')).nulable!()).nullable!()),
    problems: ['table obs, column wind: unknown modifier `.nulable`; did you mean `nullable`?'],
  },
  {
    name: 'a modifier nobody knows',
    definition: withColumn(loose(column.text('Wind')).required!()),
    problems: [
      'table obs, column wind: unknown modifier `.required`; known: nullable, nulls, tokens, default, min, max, oneOf, pattern, length, check, map, zod',
    ],
  },
  {
    name: 'a type nobody knows',
    definition: withColumn(js.money!('Wind')),
    problems: [`table obs, column wind: unknown column type \`money\`; ${knownTypes}`],
  },
  {
    name: 'a text instead of a column',
    definition: withColumn('smallint'),
    problems: [
      `table obs, column wind: 'smallint' is not a column; use column.text('Header') …; ${knownTypes}`,
    ],
  },
  {
    name: 'a builder that was not called',
    definition: withColumn(column.text),
    problems: [
      `table obs, column wind: a function is not a column; use column.text('Header') …; ${knownTypes}`,
    ],
  },
  {
    name: 'a column name in camel case',
    definition: withTable({ source, columns: { windSpeed: column.real('Wind') } }),
    problems: [
      'table obs, column windSpeed: the name `windSpeed` is not a plain name; use lower-case letters, digits and _, with a letter first, such as `wind_speed`',
    ],
  },
  {
    name: 'no header',
    definition: withColumn(js.text!()),
    problems: [
      "table obs, column wind: header is missing: it must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join",
    ],
  },
  {
    name: 'a position from 0',
    definition: withColumn(js.text!(0)),
    problems: [
      "table obs, column wind: header must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join, not 0",
    ],
  },
  {
    name: 'several names, none of them given',
    definition: withColumn(js.text!({ from: [] })),
    problems: [
      "table obs, column wind: header must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join, not an object",
    ],
  },
  {
    name: 'an empty list of headers',
    definition: withColumn(js.text!([])),
    problems: [
      "table obs, column wind: header must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join, not an empty list",
    ],
  },
  {
    name: 'a misspelt option',
    definition: withColumn(js.numeric!('Wind', { precison: 4 })),
    problems: ['table obs, column wind: unknown key `precison`; did you mean `precision`?'],
  },
  {
    name: 'an option of another type',
    definition: withColumn(js.smallint!('Wind', { scale: 2 })),
    problems: [
      'table obs, column wind: unknown key `scale`; known: thousands, grouping, spelling, nulls, tokens, separator',
    ],
  },
  {
    name: 'an option of the wrong kind',
    definition: withColumn(js.numeric!('Wind', { precision: '8' })),
    problems: ["table obs, column wind: precision must be a whole number, not '8'"],
  },
  {
    name: 'varchar without a length',
    definition: withColumn(js.varchar!('Wind')),
    problems: [
      'table obs, column wind: varchar needs a length from 1 to 10485760, in characters; use text for any length',
    ],
  },
  {
    name: 'a type name that is not one',
    definition: withColumn(js.of!('', 'Wind')),
    problems: ["table obs, column wind: type must be the name of a type, not ''"],
  },
  {
    name: 'a type name with SQL in it',
    definition: withColumn(column.of('text; drop table x', 'Wind')),
    problems: [
      'table obs, column wind: \'text; drop table x\' is not the name of a type, such as citext, public.mood, numeric(8,2)[] or "My Type"',
    ],
  },
  {
    name: 'a separator of one field',
    definition: withColumn(column.text('Wind', { separator: ' ' })),
    problems: [
      'table obs, column wind: separator goes between several fields, and the column names one; leave it out',
    ],
  },
  {
    name: 'a separator that no file can have',
    definition: withColumn(column.text(['Wind', 'Day'], { separator: '\ud83d' })),
    problems: [
      expect.stringContaining("separator must be a text to put between fields, such as ' '"),
    ] as never,
  },
  {
    name: 'a pattern that is none',
    definition: withColumn(column.date('Day', { format: 'YYYY-QQ' })),
    problems: [
      'table obs, column wind: format "YYYY-QQ": \'QQ\' is not a token; tokens are YYYY YY MM M MMM DD D HH H hh h A mm ss S to SSSSSSSSS Z',
    ],
  },
  {
    name: 'null tokens that are a text',
    definition: withColumn(js.text!('Wind', { nulls: 'M' })),
    problems: ["table obs, column wind: nulls must be a list of texts, not 'M'"],
  },
  {
    name: 'a column that every table has',
    definition: withTable({ source, columns: { xmin: column.integer('Wind') } }),
    problems: [
      'table obs, column xmin: the name `xmin` belongs to PostgreSQL, whose tables all have it; choose another name',
    ],
  },
  {
    name: 'more columns than a table can have',
    definition: withTable({
      source,
      columns: Object.fromEntries(
        Array.from({ length: 1_601 }, (_, at) => [`c${at}`, column.text(`C${at}`)]),
      ),
    }),
    problems: ['table obs: has 1601 columns, and PostgreSQL allows 1600; leave some out'],
  },
  ...[
    { count: 1_600, change: { lineage: ['_file'] }, added: 1 },
    { count: 1_598, change: { primaryKey: ['c0'], publish: 'merge' }, added: 3 },
    { count: 1_596, change: { primaryKey: ['c0'], publish: { mode: 'history', from: 'since' } }, added: 4 },
  ].map(({ count, change, added }) => ({
    name: `more columns than a table can have with the ${added} that a run adds`,
    definition: withTable({
      source,
      columns: Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`c${at}`, column.text(`C${at}`)]),
      ),
      ...change,
    }),
    problems: [
      expect.stringMatching(
        /^table obs: has \d+ columns, lineage and publish need \d more, and PostgreSQL allows 1600; leave some out$/,
      ),
    ],
  })),
  {
    name: 'a default that its own check refuses',
    definition: withColumn(
      column
        .integer('Wind')
        .default(-1)
        .check((wind) => wind > 0, 'must be positive'),
    ),
    problems: ["table obs, column wind: default '-1' does not pass the column's own check: must be positive"],
  },
  {
    name: 'a default that its own schema refuses',
    definition: withColumn(column.integer('Wind').zod(z.number().positive('is not positive')).default(-1)),
    problems: ["table obs, column wind: default '-1' does not pass the column's own check: is not positive"],
  },
  {
    name: 'a default of another kind',
    definition: withColumn(
      (column.smallint('Wind') as never as { default(v: unknown): unknown }).default('calm'),
    ),
    problems: ["table obs, column wind: default must be a value of type smallint, not 'calm'"],
  },
  {
    name: 'a default of a type of the server that is no text',
    definition: withColumn(
      (column.of('text[]', 'Wind') as never as { default(v: unknown): unknown }).default([]),
    ),
    problems: [
      'table obs, column wind: default must be a value of type text[], as a text, not an empty list',
    ],
  },
  {
    name: 'a default out of range',
    definition: withColumn(column.smallint('Wind').default(70_000)),
    problems: [
      'table obs, column wind: default must be a value of type smallint, not 70000: "70000" is outside smallint (-32768 to 32767)',
    ],
  },
  {
    name: 'a check without a reason',
    definition: withColumn(
      (column.smallint('Wind') as never as { check(v: unknown): unknown }).check(() => true),
    ),
    problems: [
      'table obs, column wind: checks[0].message is missing: it must be the reason that a rejected record shows',
    ],
  },
  ...ruleCases,
  {
    name: 'a schema that is none',
    definition: withColumn((column.smallint('Wind') as never as { zod(v: unknown): unknown }).zod({})),
    problems: ['table obs, column wind: schema must be a schema of Zod 4, not an object'],
  },
  {
    name: 'a map that is no function',
    definition: withColumn((column.smallint('Wind') as never as { map(v: unknown): unknown }).map('trim')),
    problems: ["table obs, column wind: map must be a function from text to text, not 'trim'"],
  },
  {
    name: 'a header that the given header lacks',
    definition: withTable({
      source: csv('a.csv', { header: ['WBAN', 'Winds'] }),
      columns,
      filter: oneOf('Kind', ['AA']),
    }),
    problems: [
      'table obs, column wind: csv(…, { header: […] }) has no field `Wind`; did you mean `Winds`?',
      'table obs, filter: csv(…, { header: […] }) has no field `Kind`; known: WBAN, Winds',
    ],
  },
];

describe.each([['column', columnCases]])('a wrong %s', (_, cases) => {
  it.each(cases)('$name', ({ definition, problems }) => expect(problemsOf(definition)).toEqual(problems));
});
