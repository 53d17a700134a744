// House rules that the linter does not know: migrations in order, a first sentence, no leftovers.

import { describe, expect, it } from 'vitest';
import { codeOf, filesBelow, readProjectFile, type SourceFile } from './source-files.ts';

const readmeLinesMax = 150;

const sources = filesBelow('src', '.ts', '.mjs');
const tests = filesBelow('test', '.ts');

const lineCount = ({ text }: SourceFile): number => text.replace(/\n$/, '').split('\n').length;

/** Lines whose code (not their comments and strings) holds the pattern, as `file:line`. */
const codeLines = (files: readonly SourceFile[], pattern: RegExp): readonly string[] =>
  files.flatMap(({ path, text }) =>
    codeOf(text)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );

/** The same for the whole text. */
const textLines = (files: readonly SourceFile[], pattern: RegExp): readonly string[] =>
  files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );

describe('src/', () => {
  it('has migrations with the numbers from 1, each once', () => {
    const numbers = filesBelow('src/db/bookkeeping/migrations', '.sql').map(({ path }) =>
      Number(/(\d{4})_/.exec(path)![1]),
    );
    expect(numbers).toEqual(numbers.map((_, place) => place + 1));
  });

  it('says at the top of every file what it is for', () => {
    const silent = sources.filter(({ text }) => !/^(?:#!.*\n)?\/\/ \S/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  // CONTRIBUTING.md, "A run option".
  it('names a run option in three files: its declaration, its flag and its one reader', () => {
    const named = sources.filter(({ text }) => /\bkeepStaging\b/.test(text));
    expect(named.map(({ path }) => path)).toEqual([
      'src/cli/commands/run.ts',
      'src/run/options.ts',
      'src/run/publish/tidy-up.ts',
    ]);
  });

  it('has no drawer for odds and ends', () =>
    expect(
      sources.filter(({ path }) => /(?:^|\/)(?:utils?|helpers?|types|lib|misc|common)\./.test(path)),
    ).toEqual([]));

  it('names no directory of the machine it was written on', () =>
    expect(textLines(sources, /(?:^|[\s'"`(])\/(?:work|tmp|home|root|Users)\//)).toEqual([]));
});

describe('src/ and test/', () => {
  const others = [...sources, ...tests].filter(({ path }) => !path.startsWith('test/unit/project/'));

  it('leave nothing for later', () => expect(textLines(others, /\b(?:TODO|FIXME|XXX)\b/)).toEqual([]));

  it('skip no test and single none out', () => {
    const passed = /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:only|skip|todo|fails)\b/;
    expect(codeLines(others, passed)).toEqual([]);
  });
});

it(`README.md has at most ${readmeLinesMax} lines`, () =>
  expect(lineCount({ path: 'README.md', text: readProjectFile('README.md') })).toBeLessThanOrEqual(
    readmeLinesMax,
  ));
