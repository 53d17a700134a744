#!/usr/bin/env node
// The program `etl`, also called `sluice`: runs the compiled command line. A checkout without dist/ is compiled first.

import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist/cli/main.js');
const largeHeapBytes = 100 * 1024 * 1024;

const fail = (problem, hint) => {
  process.stderr.write(`error ETL_INTERNAL: ${problem}\n  ${hint}\n`);
  process.exit(1);
};

// Builds into a temporary directory. Callers rename it to dist/, which is thus never half written.
const build = async () => {
  const aside = join(root, `.etl-build-${process.pid}`);
  try {
    // Imported only here: the published package is compiled and does not contain compile.mjs.
    const { compileInto } = await import('./compile.mjs');
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

// Links the programs into node_modules/.bin. Without the links, npx would install this package first.
const linkPrograms = () => {
  const programs = join(root, 'node_modules/.bin');
  if (process.platform === 'win32' || !existsSync(programs)) return;
  for (const name of ['etl', 'sluice']) {
    rmSync(join(programs, name), { force: true });
    symlinkSync(`../../src/cli/${name}.mjs`, join(programs, name));
  }
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
    // If dist/ exists now, another process compiled the same sources first.
    if (!existsSync(compiled)) throw error;
  }
};

/**
 * V8 lets the heap grow to up to four times what is alive before it looks for garbage again, and keeps the space that it has. Once
 * the heap is large, it saves memory instead of time: a run of 100,000 files takes less than half of the memory then. In a small heap,
 * as while programs start, that would only cost CPU (docs/benchmarks/findings.md, "Memory").
 */
const saveMemory = () => {
  const timer = setInterval(() => {
    if (getHeapStatistics().total_heap_size < largeHeapBytes) return;
    setFlagsFromString('--optimize-for-size');
    clearInterval(timer);
  }, 1_000);
  timer.unref();
};

if (process.argv[2] === '--build') {
  await replaceDist();
  linkPrograms();
} else {
  await buildOnce();
  const { main, processTitle } = await import(pathToFileURL(compiled).href);
  const args = process.argv.slice(2);
  process.title = processTitle(args);
  saveMemory();
  process.exitCode = await main(args);
}
