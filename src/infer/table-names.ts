// What pipelines and tables are called, by the names of their files.

import { snakeCase } from './header.ts';

const nameCharsMax = 40;

/** Endings of data files, also several: `.csv.gz`. */
const endings = /(?:\.(?:csv|tsv|tab|txt|dat|data|psv|gz|zip|zst|zstd|br))+$/i;

/** A name without directory, endings, numbers and dates: that of 201101hourly.txt and 201102hourly.txt is `hourly`. */
export const stemOf = (name: string): string => {
  const base = name
    .replace(/[?#].*$/, '')
    .split(/[/\\]/)
    .at(-1)!
    .replace(endings, '');
  const words = snakeCase(base).replace(/^_/, '');
  const bare = words.replace(/\d+/g, '').replace(/_+/g, '_').replace(/^_|_$/g, '');
  const stem = bare.length >= 3 ? bare : words;
  return (/^[a-z]/.test(stem) ? stem : `data_${stem}`).slice(0, nameCharsMax).replace(/_+$/, '');
};

/** The names, each once. */
export const eachOnce = (names: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let count = 2; taken.has(own); count += 1) own = `${name}_${count}`;
    taken.add(own);
    return own;
  });
};
