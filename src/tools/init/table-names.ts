// Makes names of pipelines and tables from the names of files.

import { pipelineNameProblem, schemaNameProblem } from '../../pipeline/names.ts';
import { snakeCase } from './header.ts';

const nameCharsMax = 40;

const endings = /(?:\.(?:csv|tsv|tab|txt|dat|data|psv|gz|zip|zst|zstd|br))+$/i;

const wordsOf = (name: string): string =>
  plain(
    name
      .replace(/[?#].*$/, '')
      .split(/[/\\]/)
      .at(-1)!
      .replace(endings, ''),
  );

/** Names of pipelines and tables are ASCII. */
const plain = (text: string): string =>
  snakeCase(text)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

const isAllowed = (name: string): boolean =>
  [pipelineNameProblem(name), schemaNameProblem(name)].every((problem) => problem === undefined);

/** Returns a name that pipelines, schemas and tables may have. */
const asName = (words: string): string => {
  const name = (/^[a-z]/.test(words) ? words : `data_${words}`).slice(0, nameCharsMax).replace(/_+$/, '');
  return isAllowed(name) ? name : `data_${name}`.slice(0, nameCharsMax);
};

/** Returns the name of the pipeline in a file. */
export const pipelineNameOf = (file: string): string | undefined => {
  const words = plain(
    file
      .split(/[/\\]/)
      .at(-1)!
      .replace(/\.[cm]?[jt]s$/, ''),
  );
  return words === '' ? undefined : asName(words);
};

/** Returns a name without directory, extensions and numbers: `hourly` for in/201101hourly.txt. */
const stemOf = (name: string): string => {
  const words = wordsOf(name);
  const bare = words.replace(/\d+/g, '').replace(/_+/g, '_').replace(/^_|_$/g, '');
  return asName(bare.length >= 3 ? bare : words);
};

/** Returns the same text for names that differ only in the digits of their numbers. */
export const patternOf = (name: string): string => wordsOf(name).replace(/\d+/g, '0');

export const tableNames = (tables: readonly (readonly string[])[]): readonly string[] => {
  const stems = tables.map(([first]) => stemOf(first!));
  return eachOnce(
    tables.map((files, index) => {
      const isAlone = stems.filter((stem) => stem === stems[index]).length === 1;
      return isAlone || files.length > 1 ? stems[index]! : asName(wordsOf(files[0]!));
    }),
  );
};

const eachOnce = (names: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let count = 2; taken.has(own); count += 1) own = `${name}_${count}`;
    taken.add(own);
    return own;
  });
};
