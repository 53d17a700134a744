// matches: a regular expression matches every value, as it does in JavaScript.

import { quoteName, quoteText } from '../../db/sql.ts';
import { columnOf, defineTest, row, type RowKind, type TestOptions } from './contract.ts';
import { PatternRefused, serverPattern } from './pattern.ts';

export const matches = {
  per: 'row',
  /** The pattern is found in every text; null passes: `expect.matches('code', /^\d{5}$/)`. */
  define: <const Name extends string>(column: Name, pattern: RegExp, options: TestOptions = {}) =>
    defineTest('matches', [column], { pattern }, options),
  read: ({ columns: [name], of: { pattern } }, asked) => {
    if (asked.column(name!)?.isText === false) asked.add(`needs a text, and \`${name}\` is not one`);
    if (!(pattern instanceof RegExp)) {
      asked.add('needs a RegExp');
      return undefined;
    }
    try {
      return { pattern: serverPattern(pattern), shown: String(pattern) };
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      asked.add(error.message);
      return undefined;
    }
  },
  fails: ({ columns: [name], of: { pattern } }, columns) => {
    const value = `${row}.${quoteName(columnOf(columns, name!).name)}::text collate pg_catalog."C"`;
    return `${value} operator(pg_catalog.!~) ${quoteText(pattern as string)}`;
  },
  problem: ({ columns, of: { shown } }) => `${columns[0]} does not match ${String(shown)}`,
} satisfies RowKind;
