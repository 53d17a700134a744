// sql: an author's query selects the failing rows.

import { fileURLToPath } from 'node:url';
import { defineTest, type SetKind, type TestOptions } from './contract.ts';

export const sql = {
  per: 'set',
  isAuthors: true,
  over: () => 'all',
  define: (file: string | URL, options: TestOptions = {}) =>
    defineTest<never>('sql', [], { path: file instanceof URL ? fileURLToPath(file) : file }, options),
  read: ({ of: { path } }, { add }) => {
    if (typeof path === 'string' && path !== '') return { file: { kind: 'sqlFile', path } };
    add("needs the path of a file, such as 'no_future.sql'");
    return undefined;
  },
  about: ({ of: { file } }) => (file as { path: string }).path,
  failing: ({ name }, { sql: texts }) => texts.get(name)!,
  problem: () => 'the query selects it',
} satisfies SetKind;
