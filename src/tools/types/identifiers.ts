// Names of TypeScript for tables, which no two tables share and no other name of the file.

import type { TypedTable } from './typed-tables.ts';

type Spelling = (words: readonly string[]) => string;

const upperFirst = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Splits where a character cannot be in an identifier, and at _. */
const wordsOf = (name: string): readonly string[] => name.split(/[^\p{ID_Continue}]+|_+/u).filter(Boolean);

/** A digit cannot be first. A name of signs alone has no words. */
const startable = (name: string): string => (/^\p{ID_Start}/u.test(name) ? name : `_${name}`);

export const pascalCase: Spelling = (words) => startable(words.map(upperFirst).join(''));

export const camelCase: Spelling = (words) => {
  const name = pascalCase(words);
  return name.charAt(0).toLowerCase() + name.slice(1);
};

/**
 * Names tables, in their order: `daily`, or with its schema `noaaDaily` if another table or
 * `taken` has the short name.
 */
export const tableNames = (
  tables: readonly TypedTable[],
  spell: Spelling,
  taken: ReadonlySet<string>,
): readonly string[] => {
  const short = tables.map(({ name }) => spell(wordsOf(name)));
  const used = new Set(taken);
  return tables.map(({ schema, name }, index) => {
    const isAlone = short.filter((other) => other === short[index]).length === 1;
    const long =
      isAlone && !used.has(short[index]!) ? short[index]! : spell([...wordsOf(schema), ...wordsOf(name)]);
    let free = long;
    for (let number = 2; used.has(free); number += 1) free = `${long}${number}`;
    used.add(free);
    return free;
  });
};
