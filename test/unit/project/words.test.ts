// Words that have a simpler one in plain technical English stay out of comments, messages, help texts, titles of tests and pages.

import { expect, it } from 'vitest';
import { codeOf, filesBelow, readProjectFile } from './source-files.ts';

const banned = /\b(?:anew|whoever|of before|mend(?:s|ed)?|is told|stands(?! out))\b/i;

/** What is not code: comments, strings and templates; lines stay. */
const proseOf = (text: string): string => {
  const code = codeOf(text);
  return text.replace(/[^\n]/g, (character, at: number) => (code[at] === ' ' ? character : ' '));
};

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((path) => ({
  path,
  text: readProjectFile(path),
}));
/** This file quotes the words. */
const own = 'test/unit/project/words.test.ts';
const prose = [
  ...['src', 'test', 'bench']
    .flatMap((folder) => filesBelow(folder, '.ts', '.mjs'))
    .filter(({ path }) => path !== own)
    .map(({ path, text }) => ({ path, text: proseOf(text) })),
  ...filesBelow('docs', '.md'),
  ...pages,
];

it('comments, texts, titles and pages use the simple word: again, after, fix, is reported, is', () => {
  const found = prose.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const [word] = banned.exec(line) ?? [];
      return word === undefined ? [] : [`${path}:${index + 1}: ${word}`];
    }),
  );
  expect(found).toEqual([]);
});

it('finds them in comments, strings and templates, and not in code', () => {
  const text = "const anew = 1; // made anew\ncall('it stands', `is told ${whoever} mend`);";
  expect(proseOf(text).match(new RegExp(banned, 'gi'))).toEqual(['anew', 'stands', 'is told', 'mend']);
});
