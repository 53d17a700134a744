// of: accepts names of types, and refuses anything else that CREATE TABLE would execute.

import { describe, expect, it } from 'vitest';
import { ofType } from '../../../../src/format/types/of.ts';

const names = [
  'citext',
  'public.mood',
  '"My Schema"."My Type"',
  'numeric(8, 2)[]',
  'text[][]',
  'integer[3]',
  'double precision',
  'character varying(20)',
  'bit varying(5)[]',
  'TIMESTAMP(3) WITH TIME ZONE',
  'time without time zone',
  'interval day to second(3)',
  'geometry(Point,4326)',
  'int4range',
  '"a""b"',
  'numeric(3,-2)',
];

const refused = [
  '',
  ' ',
  'text default current_user',
  'text check (true)',
  'text collate x',
  'integer primary key',
  'integer, evil integer',
  'integer)',
  'text; drop table x',
  "text default 'x'",
  'text -- x',
  'text /* x */',
  '"a"b"',
  '"',
  'text(1))',
  'text[',
  'a.b.c',
  'text\n',
  'text\u0000',
  'x'.repeat(300),
];

describe('of', () => {
  it.each(names)('takes %s and writes it as it is', (sqlType) => {
    expect(ofType.optionsProblem?.({ sqlType })).toBeUndefined();
    expect(ofType.sql({ sqlType })).toBe(sqlType);
  });

  it.each(refused.map((sqlType) => ({ sqlType, name: JSON.stringify(sqlType) })))(
    'does not take $name',
    ({ sqlType }) => expect(ofType.optionsProblem?.({ sqlType })).toContain('is not the name of a type'),
  );

  it('passes text as it is', () => expect(ofType.reader({ sqlType: 'citext' })('  x ')).toBe('  x '));
});
