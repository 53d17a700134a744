// The examples of docs/reference/library.md compile, run in their order, and print what the page says.

import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { runTypeScript } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { readProjectFile, root } from '../unit/project/source-files.ts';

const page = 'docs/reference/library.md';
const files = useFiles();
const database = useDatabase();

/** Blocks that begin with their name as a comment, and the block of output after a program. */
const examples = [
  ...readProjectFile(page).matchAll(
    /^```(ts|sql|csv)\n(?:\/\/|--|#) (\S+)\n([^]*?)\n```\n(?:\n```text\n([^]*?)\n```)?/gm,
  ),
].map(([, kind = '', name = '', code = '', output]) => ({ kind, name, code, output }));
const programs = examples.filter(({ output }) => output !== undefined);
/** The page shows no output of them: they print nothing. */
const declarations = examples.filter(({ kind, output }) => kind === 'ts' && output === undefined);

const tsconfig = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: {
    paths: { sluice: [join(root, 'src/index.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['*.ts', 'pipelines/*.ts'],
};

const compile = (): Promise<string> =>
  new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', files.directory], (_, out) => resolve(out));
  });

beforeAll(() => {
  for (const { name, code } of examples) files.write(name, `${code}\n`);
  files.write('package.json', '{ "type": "module" }');
  symlinkSync(join(root, 'node_modules'), join(files.directory, 'node_modules'));
  files.write('tsconfig.json', JSON.stringify(tsconfig));
});

it('the examples compile', async () => expect(await compile()).toBe(''));

it('the examples run one after another, and print what the page says', async () => {
  expect(declarations.map(({ name }) => name)).toContain('shop.ts');
  const all = [...declarations, ...programs];
  const steps = all.map(({ name }) => `console.log('--- ${name}');\nawait import('./${name}');\n`);
  const program = files.write('all.ts', steps.join(''));
  const printed = all.map(({ name, output }) => [`--- ${name}`, ...(output === undefined ? [] : [output])]);
  const env = { DATABASE_URL: database.url };
  expect(await runTypeScript(program, [], { cwd: files.directory, env })).toEqual({
    exit: 0,
    out: `${printed.flat().join('\n')}\n`,
    err: '',
  });
});

/** Names of `export { … }` in the library's one file. */
const exported = [...readProjectFile('src/index.ts').matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
  ([, names = '']) => names.split(',').map((name) => name.trim().replace(/^type /, '')),
);

describe('what the library exports', () => {
  it('is read from its file', () => expect(exported).toContain('runPipeline'));

  it.each(exported)('%s has a heading and is used in an example', (name) => {
    const headings = readProjectFile(page)
      .match(/^##+ .*$/gm)!
      .join('\n');
    expect({
      hasHeading: new RegExp(`\\b${name}\\b`).test(headings),
      isUsed: examples.some(({ code }) =>
        new RegExp(`^import [^;]*\\b${name}\\b[^;]*'sluice'`, 'm').test(code),
      ),
    }).toEqual({ hasHeading: true, isUsed: true });
  });
});
