// docs/reference/errors.md shows the texts of the catalogue; `-u` updates them. Explanations below the texts are
// written by hand, and `-u` keeps them.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { catalogue, type ErrorCode } from '../../../src/core/errors/errors.ts';
import { rejectCodes } from '../../../src/core/model.ts';
import { filesBelow, readProjectFile } from './source-files.ts';

const page = 'docs/reference/errors.md';
const pagePath = fileURLToPath(new URL(`../../../${page}`, import.meta.url));
const text = readProjectFile(page);
const sources = filesBelow('src', '.ts', '.mjs').filter(({ path }) => path !== 'src/core/model.ts');

const codes = Object.keys(catalogue) as ErrorCode[];

/** The hand-written explanation of a code on the page; empty if there is none. */
const explanationOf = (code: ErrorCode): string => {
  const [, section = ''] = new RegExp(`### ${code}\n([^]*?)\n(?=###|<!-- end)`).exec(text) ?? [];
  const lines = section.split('\n');
  const shown = lines.findLastIndex((line) => line.startsWith('    '));
  return lines
    .slice(shown + 1)
    .join('\n')
    .trim();
};

const entryText = (code: ErrorCode): string => {
  const { message, hint, retry, exit } = catalogue[code];
  const explanation = explanationOf(code);
  return [
    `### ${code}`,
    '',
    `Exit ${exit} · auto-retry: ${retry}`,
    '',
    `    ${message}`,
    `    ${hint}`,
    '',
    ...(explanation === '' ? [] : [explanation, '']),
  ].join('\n');
};

/** Puts new content between `<!-- name -->` and the next `<!-- end -->`. */
const fillIn = (markdown: string, name: string, content: string): string =>
  markdown.replace(
    new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- end -->`),
    () => `<!-- ${name} -->\n\n${content}\n<!-- end -->`,
  );

const rejectTable = [
  '| Code | Meaning |',
  '|---|---|',
  ...Object.entries(rejectCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  '',
].join('\n');

it(`${page} lists the catalogue as it is`, async () => {
  const renewed = fillIn(fillIn(text, 'errors', codes.map(entryText).join('\n')), 'rejects', rejectTable);
  await expect(renewed).toMatchFileSnapshot(pagePath);
});

it.each(codes.filter((code) => catalogue[code].hint === '{hint}'))(
  `${page} explains %s, whose hint differs from case to case`,
  (code) => expect(explanationOf(code)).not.toBe(''),
);

/** Codes that a documentation page mentions. */
const mentioned = (markdown: string): readonly string[] => [
  ...new Set([...markdown.matchAll(/\bETL_[A-Z_]*[A-Z]\b/g)].map(([code]) => code)),
];

/** Flags are variables too: `--full-refresh` is ETL_FULL_REFRESH. ETL_EMBEDDED has no flag: it is for a whole environment. */
const isVariable = (name: string): boolean =>
  name === 'ETL_EMBEDDED' ||
  commandLine.includes(`--${name.slice('ETL_'.length).toLowerCase().replaceAll('_', '-')}`);
const commandLine = readProjectFile('docs/reference/cli.md');

describe('documentation', () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map((path) => ({
    path,
    text: readProjectFile(path),
  }));
  it.each([...pages, ...filesBelow('docs', '.md')].map(({ path, text: markdown }) => ({ path, markdown })))(
    '$path names no code that does not exist',
    ({ markdown }) =>
      expect(
        mentioned(markdown).filter((code) => !Object.hasOwn(catalogue, code) && !isVariable(code)),
      ).toEqual([]),
  );
});

/** Files, other than the catalogue, that hold the code as a text of its own. */
const holders = (code: string): readonly string[] =>
  sources
    .filter(({ path, text: source }) => path !== 'src/core/errors/errors.ts' && source.includes(`'${code}'`))
    .map(({ path }) => path);

describe('src/', () => {
  // asEtlError in errors.ts makes ETL_INTERNAL of whatever nobody foresaw.
  it.each(codes.filter((code) => code !== 'ETL_INTERNAL'))('throws %s', (code) => {
    expect(holders(code)).not.toEqual([]);
  });

  it.each(Object.keys(rejectCodes))('rejects with %s', (code) => {
    expect(holders(code)).not.toEqual([]);
  });

  it('fills every placeholder of the messages that it throws with plain details', () => {
    const thrown = /new EtlError\(\s*'(ETL_\w+)',\s*\{([^{}.]*)\}/g;
    const missing = sources.flatMap(({ path, text: source }) =>
      [...source.matchAll(thrown)].flatMap(([, code, details]) =>
        placeholders(code as ErrorCode)
          .filter((name) => !new RegExp(`\\b${name}\\b`).test(details!))
          .map((name) => `${path}: ${code} without ${name}`),
      ),
    );
    expect(missing).toEqual([]);
  });
});

/** Placeholders of the message; those of a hint may stay empty. */
const placeholders = (code: ErrorCode): readonly string[] =>
  [...(catalogue[code]?.message ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
