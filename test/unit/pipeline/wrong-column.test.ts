// The exact error text of every mistake in a column.

import { expect } from 'vitest';
import { z } from 'zod';
import { column, csv, oneOf } from '../../../src/pipeline/authoring.ts';
import { columns, describeMistakes, js, knownTypes, withColumn, withKeys } from './wrong-definitions.ts';

/** Calls a modifier, which need not exist. */
const modified = (made: unknown, name: string, ...given: unknown[]): unknown =>
  (made as Record<string, (...args: unknown[]) => unknown>)[name]!(...given);

const manyColumns = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, column.text(`C${at}`)]));

const tooMany = (count: number, added: number): string =>
  `: has ${count} columns, lineage and publish need ${added} more, and PostgreSQL allows 1600; leave some out`;

const smallint = column.smallint('Wind');
const text = column.text('Wind');

const header =
  "header must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join, not ";

describeMistakes('a wrong column', withColumn, 'table obs, column wind: ', [
  [smallint.min(5).default(4), "default '4' does not pass the column's own check: must be at least 5"],
  [js.strnig!('Wind'), `unknown column type \`strnig\`; did you mean \`text\`? ${knownTypes}`],
  [js.datetime!('Wind'), `unknown column type \`datetime\`; did you mean \`timestamp\`? ${knownTypes}`],
  [js.timestampz!('Wind'), `unknown column type \`timestampz\`; did you mean \`timestamptz\`? ${knownTypes}`],
  [modified(modified(text, 'nulable'), 'nullable'), 'unknown modifier `.nulable`; did you mean `nullable`?'],
  [
    modified(text, 'required'),
    'unknown modifier `.required`; known: nullable, nulls, tokens, default, min, max, oneOf, pattern, length, check, map, zod',
  ],
  [js.money!('Wind'), `unknown column type \`money\`; ${knownTypes}`],
  ['smallint', `'smallint' is not a column; use column.text('Header') …; ${knownTypes}`],
  [column.text, `a function is not a column; use column.text('Header') …; ${knownTypes}`],
  [
    js.text!(),
    "header is missing: it must be a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to join",
  ],
  [js.text!(0), `${header}0`],
  [js.text!({ from: [] }), `${header}an object`],
  [js.text!([]), `${header}an empty list`],
  [js.numeric!('Wind', { precison: 4 }), 'unknown key `precison`; did you mean `precision`?'],
  [
    js.smallint!('Wind', { scale: 2 }),
    'unknown key `scale`; known: thousands, grouping, spelling, nulls, tokens, separator',
  ],
  [js.numeric!('Wind', { precision: '8' }), "precision must be a whole number, not '8'"],
  [js.varchar!('Wind'), 'varchar needs a length from 1 to 10485760, in characters; use text for any length'],
  [js.of!('', 'Wind'), "type must be the name of a type, not ''"],
  [
    column.of('text; drop table x', 'Wind'),
    '\'text; drop table x\' is not the name of a type, such as citext, public.mood, numeric(8,2)[] or "My Type"',
  ],
  [
    column.text('Wind', { separator: ' ' }),
    'separator goes between several fields, and the column names one; leave it out',
  ],
  [
    column.date('Day', { format: 'YYYY-QQ' }),
    'format "YYYY-QQ": \'QQ\' is not a token; tokens are YYYY YY MM M MMM DD D HH H hh h A mm ss S to SSSSSSSSS Z',
  ],
  [js.text!('Wind', { nulls: 'M' }), "nulls must be a list of texts, not 'M'"],
  [
    column
      .integer('Wind')
      .default(-1)
      .check((wind) => wind > 0, 'must be positive'),
    "default '-1' does not pass the column's own check: must be positive",
  ],
  [
    column.integer('Wind').zod(z.number().positive('is not positive')).default(-1),
    "default '-1' does not pass the column's own check: is not positive",
  ],
  [modified(smallint, 'default', 'calm'), "default must be a value of type smallint, not 'calm'"],
  [
    modified(column.of('text[]', 'Wind'), 'default', []),
    'default must be a value of type text[], as a text, not an empty list',
  ],
  [
    smallint.default(70_000),
    'default must be a value of type smallint, not 70000: "70000" is outside smallint (-32768 to 32767)',
  ],
  [
    modified(smallint, 'check', () => true),
    'checks[0].message is missing: it must be the reason that a rejected record shows',
  ],
  [modified(smallint, 'zod', {}), 'schema must be a schema of Zod 4, not an object'],
  [modified(smallint, 'map', 'trim'), "map must be a function from text to text, not 'trim'"],
  [modified(smallint, 'min', 'low'), "min must be a value of type smallint, not 'low'"],
  [modified(smallint, 'max', 0.5), 'max must be a value of type smallint, not 0.5: "0.5" is not a smallint'],
  [modified(smallint, 'max', undefined), 'max must be a value of type smallint, not undefined'],
  [modified(smallint.max(3), 'min', 4), 'min 4 is above max 3: no value would pass'],
  [modified(column.real('Wind'), 'max', NaN), 'NaN is not a bound, because no value can be compared with it'],
  [
    modified(text, 'min', 'a'),
    'min does not apply to this column: text has no order; .length limits its characters',
  ],
  [modified(column.boolean('Wind'), 'max', true), 'max does not apply to this column: boolean has no order'],
  [
    modified(column.jsonb('Wind'), 'oneOf', [1]),
    'oneOf does not apply to this column: jsonb does not compare values',
  ],
  [modified(smallint, 'length', 2), 'length does not apply to this column: smallint is not a text'],
  [
    modified(column.date('Wind'), 'pattern', /a/),
    'pattern does not apply to this column: date is not a text',
  ],
  [modified(text, 'pattern', 'a'), "pattern must be a RegExp without the flags g and y, not 'a'"],
  [modified(text, 'pattern', /a/g), 'pattern must be a RegExp without the flags g and y, not an object'],
  [
    modified(text, 'length', '3'),
    "length must be a number of characters, or an object such as { min: 1, max: 80 }, not '3'",
  ],
  [
    modified(text, 'length', {}),
    'length must be a number of characters, or an object such as { min: 1, max: 80 }, not an object',
  ],
  [modified(text, 'length', { min: 3, max: 2 }), 'length has a min above its max: no text would pass'],
  [modified(text, 'oneOf', []), 'oneOf must be a list of at least one value, not an empty list'],
  [modified(text, 'oneOf', 'a'), "oneOf must be a list of at least one value, not 'a'"],
  [modified(smallint, 'oneOf', [1, 'b']), "oneOf[1] must be a value of type smallint, not 'b'"],
  [
    column.text(['Wind', 'Day'], { separator: '\ud83d' }),
    expect.stringContaining("separator must be a text to put between fields, such as ' '") as string,
  ],
]);

describeMistakes('wrong columns', withKeys, 'table obs', [
  [
    { columns: { ['w'.repeat(64)]: column.real('Wind') } },
    `, column ${'w'.repeat(64)}: the name \`${'w'.repeat(64)}\` is 64 bytes long, and PostgreSQL cuts names at 63; shorten it`,
  ],
  [
    { columns: { xmin: column.integer('Wind') } },
    ', column xmin: the name `xmin` belongs to PostgreSQL, whose tables all have it; choose another name',
  ],
  [{ columns: manyColumns(1_601) }, ': has 1601 columns, and PostgreSQL allows 1600; leave some out'],
  [
    { source: csv('a.csv', { header: ['WBAN', 'Winds'] }), columns, filter: oneOf('Kind', ['AA']) },
    ', column wind: csv(…, { header: […] }) has no field `Wind`; did you mean `Winds`?',
    ', filter: csv(…, { header: […] }) has no field `Kind`; known: WBAN, Winds',
  ],

  [{ columns: manyColumns(1_600), lineage: ['_file'] }, tooMany(1_600, 1)],
  [{ columns: manyColumns(1_598), primaryKey: ['c0'], publish: 'merge' }, tooMany(1_598, 3)],
  [
    { columns: manyColumns(1_596), primaryKey: ['c0'], publish: { mode: 'history', from: 'since' } },
    tooMany(1_597, 4),
  ],
]);
