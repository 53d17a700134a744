#!/usr/bin/env node
// The program `etl`: runs the compiled command line; in a checkout that was never built, compiles it first.

import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist/cli/main.js');

const fail = (problem, hint) => {
  process.stderr.write(`error ETL_INTERNAL: ${problem}\n  ${hint}\n`);
  process.exit(1);
};

// Compiles aside and renames, so that a second process never imports a half-written dist.
const build = async () => {
  const aside = join(root, `.etl-build-${process.pid}`);
  try {
    // The installed package comes built, without this module.
    const { compileInto } = await import('./build/compile.mjs');
    if (!(await compileInto(aside))) throw new Error('sluice does not compile');
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    fail(error.message, error.hint ?? 'See the compiler errors above.');
  }
  return aside;
};

const replaceDist = async () => {
  const aside = await build();
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

const buildOnce = async () => {
  if (existsSync(compiled)) return;
  if (!existsSync(join(root, 'src/cli/main.ts')))
    fail('dist/ is missing from this installation', 'Install sluice again.');
  process.stderr.write('sluice: first use of this checkout, compiling it once …\n');
  const aside = await build();
  try {
    renameSync(aside, join(root, 'dist'));
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    // Otherwise another process was first, and its dist is the same.
    if (!existsSync(compiled)) throw error;
  }
};

// Node 22 and later start faster with code that V8 has compiled before, and so do our threads. It is kept within the package: in the
// default place, which is in /tmp, a stranger could put code of his own beforehand. A package that cannot be written to does without.
const keepCompiledCode = () => {
  const directory = join(root, 'node_modules/.cache/sluice');
  const { ENABLED } = module.constants?.compileCacheStatus ?? {};
  if (ENABLED !== undefined && module.enableCompileCache(directory).status === ENABLED)
    process.env.NODE_COMPILE_CACHE = directory;
};

if (process.argv[2] === '--build') {
  await replaceDist();
  linkProgram();
} else {
  await buildOnce();
  keepCompiledCode();
  const { main, processTitle } = await import(pathToFileURL(compiled).href);
  const args = process.argv.slice(2);
  process.title = processTitle(args);
  process.exitCode = await main(args);
}
