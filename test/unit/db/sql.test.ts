// Values become literals; a $1 in a quoted name or text stays.

import { expect, it } from 'vitest';
import { inline, quoteName, quoteText } from '../../../src/db/sql.ts';

it.each([
  { query: { text: 'select $2, $1', values: ["it's", -3] }, sent: "select (-3), 'it''s'" },
  { query: { text: 'select $1, $2', values: [null, true] }, sent: 'select null, true' },
  { query: { text: 'select $1', values: ['$1'] }, sent: "select '$1'" },
  { query: { text: `drop table ${quoteName('a"$1')}` }, sent: 'drop table "a""$1"' },
  {
    query: { text: `select ${quoteName('a"$2')}, ${quoteText("'$3")}, $1`, values: ['x'] },
    sent: `select "a""$2", '''$3', 'x'`,
  },
  { query: { text: "select 1 -- the author's $1" }, sent: "select 1 -- the author's $1" },
])('$query.text', ({ query, sent }) => expect(inline(query)).toBe(sent));

it('a value that no literal can be is refused', () =>
  expect(() => inline({ text: 'select $1', values: [undefined] })).toThrow('no literal for a undefined'));
