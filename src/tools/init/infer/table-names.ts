// What pipelines and tables are called, by the names of their files.

import { snakeCase } from './header.ts';

const nameCharsMax = 40;

/** Endings of data files, also several: `.csv.gz`. */
const endings = /(?:\.(?:csv|tsv|tab|txt|dat|data|psv|gz|zip|zst|zstd|br))+$/i;

const wordsOf = (name: string): string =>
  snakeCase(
    name
      .replace(/[?#].*$/, '')
      .split(/[/\\]/)
      .at(-1)!
      .replace(endings, ''),
  ).replace(/^_/, '');

const asName = (words: string): string =>
  (/^[a-z]/.test(words) ? words : `data_${words}`).slice(0, nameCharsMax).replace(/_+$/, '');

/** A name without directory, endings, numbers and dates: that of 201101hourly.txt and 201102hourly.txt is `hourly`. */
const stemOf = (name: string): string => {
  const words = wordsOf(name);
  const bare = words.replace(/\d+/g, '').replace(/_+/g, '_').replace(/^_|_$/g, '');
  return asName(bare.length >= 3 ? bare : words);
};

/** What names have in common that differ in their numbers alone: zone.tab and zone1970.tab have not. */
export const patternOf = (name: string): string => wordsOf(name).replace(/\d+/g, '0');

/** Names of tables by their files: without numbers, unless those tell tables of one file from each other. */
export const tableNames = (tables: readonly (readonly string[])[]): readonly string[] => {
  const stems = tables.map(([first]) => stemOf(first!));
  return eachOnce(
    tables.map((files, place) => {
      const isAlone = stems.filter((stem) => stem === stems[place]).length === 1;
      return isAlone || files.length > 1 ? stems[place]! : asName(wordsOf(files[0]!));
    }),
  );
};

/** The names, each once. */
const eachOnce = (names: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let count = 2; taken.has(own); count += 1) own = `${name}_${count}`;
    taken.add(own);
    return own;
  });
};
