#!/usr/bin/env node
// The program `etl`: runs the compiled command line; in a checkout that was never built, compiles it first.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist/cli/main.js');

const fail = (problem, hint) => {
  process.stderr.write(`error ETL_INTERNAL: ${problem}\n  ${hint}\n`);
  process.exit(1);
};

const findCompiler = () => {
  try {
    const require = createRequire(join(root, 'package.json'));
    return join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return fail('sluice is not compiled, and TypeScript is not installed', 'Run `npm ci` in its checkout.');
  }
};

// Compiles aside and renames, so that a second process never imports a half-written dist.
const build = () => {
  const aside = join(root, `.etl-build-${process.pid}`);
  const tsc = [findCompiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', aside];
  const { status } = spawnSync(process.execPath, tsc, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    rmSync(aside, { recursive: true, force: true });
    fail('sluice does not compile', 'See the compiler errors above.');
  }
  mkdirSync(join(aside, 'db'), { recursive: true });
  cpSync(join(root, 'src/db/bookkeeping/migrations'), join(aside, 'db/bookkeeping/migrations'), {
    recursive: true,
  });
  return aside;
};

const replaceDist = () => {
  const aside = build();
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  renameSync(aside, join(root, 'dist'));
};

// npx runs a program in node_modules/.bin at once; a package's own program it would first install into its cache.
const linkProgram = () => {
  const programs = join(root, 'node_modules/.bin');
  if (process.platform === 'win32' || !existsSync(programs)) return;
  rmSync(join(programs, 'etl'), { force: true });
  symlinkSync('../../src/cli/etl.mjs', join(programs, 'etl'));
};

const buildOnce = () => {
  if (existsSync(compiled)) return;
  if (!existsSync(join(root, 'src/cli/main.ts')))
    fail('dist/ is missing from this installation', 'Install sluice again.');
  process.stderr.write('sluice: first use of this checkout, compiling it once …\n');
  const aside = build();
  try {
    renameSync(aside, join(root, 'dist'));
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    // Otherwise another process was first, and its dist is the same.
    if (!existsSync(compiled)) throw error;
  }
};

if (process.argv[2] === '--build') {
  replaceDist();
  linkProgram();
} else {
  buildOnce();
  module.enableCompileCache?.(); // Node 22 and later start faster with it
  const { main, processTitle } = await import(pathToFileURL(compiled).href);
  const args = process.argv.slice(2);
  process.title = processTitle(args);
  process.exitCode = await main(args);
}
