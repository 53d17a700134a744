// Which changes of a column's type keep every value.

import { expect, it } from 'vitest';
import { widens } from '../../../../src/publish/alter/widening.ts';

const keptAsTheyAre = [
  ['character varying(4)', 'character varying(5)'],
  ['character varying(4)', 'text'],
  ['text', 'character varying'],
  ['numeric(6,2)', 'numeric(7,2)'],
  ['numeric(6,2)', 'numeric'],
  ['timestamp(3) without time zone', 'timestamp without time zone'],
  ['time(0) with time zone', 'time(3) with time zone'],
  ['bit varying(4)', 'bit varying'],
];

const rewritten = [
  ['smallint', 'integer'],
  ['smallint', 'real'],
  ['integer', 'bigint'],
  ['integer', 'double precision'],
  ['bigint', 'numeric'],
  ['bigint', 'numeric(21,2)'],
  ['real', 'double precision'],
  ['numeric(6,2)', 'numeric(7,3)'],
  ['date', 'timestamp without time zone'],
  ['date', 'timestamp(3) without time zone'],
];

const lost = [
  ['bigint', 'integer'],
  ['bigint', 'double precision'],
  ['integer', 'real'],
  ['integer', 'numeric(9,0)'],
  ['integer', 'numeric(20,-2)'],
  ['bigint', 'numeric(20,2)'],
  ['double precision', 'real'],
  ['double precision', 'numeric'],
  ['numeric', 'numeric(30,10)'],
  ['numeric(6,2)', 'numeric(6,3)'],
  ['numeric(6,2)', 'numeric(7,1)'],
  ['text', 'character varying(10)'],
  ['character varying(5)', 'character varying(4)'],
  ['character(5)', 'text'],
  ['timestamp without time zone', 'timestamp with time zone'],
  ['timestamp without time zone', 'timestamp(3) without time zone'],
  ['date', 'timestamp with time zone'],
  ['date', 'timestamp(3) with time zone'],
  ['json', 'jsonb'],
  ['integer', 'text'],
  ['geo.size', 'geo.length'],
];

it.each(keptAsTheyAre)('%s becomes %s without writing the table', (from, to) => {
  expect(widens(from, to)).toEqual({ rewrites: false });
});

it.each(rewritten)('%s becomes %s by writing the table again', (from, to) => {
  expect(widens(from, to)).toEqual({ rewrites: true });
});

it.each(lost)('%s does not become %s', (from, to) => expect(widens(from, to)).toBeUndefined());
