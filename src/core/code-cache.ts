// Keeps V8's compiled code of the bundle in files, so that the program and its threads start
// faster: compiling it takes longer than a small run. Node's own cache saves less, and only Node 22
// and later has it.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

type Compile = (this: NodeModule, text: string, path: string, ...more: unknown[]) => unknown;
type Wrapped = (this: unknown, ...values: [unknown, NodeRequire, NodeModule, string, string]) => unknown;

const dist = fileURLToPath(new URL('../', import.meta.url));
const bundle = join(dist, 'bundle');

/**
 * In dist/, so that each build begins without a cache, and nobody can add code who could not change
 * the bundle. V8 refuses the code of other versions, but its check of the source is weak.
 */
const caches = join(dist, 'code-cache', process.version);

const readCache = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

/** Without permission to write into the package, there is no cache. */
const writeCache = (file: string, code: Buffer): void => {
  const aside = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(aside, code);
    // Other processes read a whole file or none.
    renameSync(aside, file);
  } catch {
    // The next start compiles again.
  }
};

/**
 * Loads an entry point of the bundle, and all that it requires from there, with a cache of its own.
 * If a module had none, the code of all modules is stored when the process or thread ends: only
 * then has V8 compiled the functions that were called, also those of modules with a cache.
 */
export const requireCached = (entry: string): unknown => {
  // Node has no public way to compile a CommonJS module with a cache of one's own.
  /* oxlint-disable no-underscore-dangle */
  const prototype = Module.prototype as unknown as { _compile: Compile };
  const compile = prototype._compile;
  const scripts = new Map<string, Script>();
  let isComplete = true;
  prototype._compile = function compileCached(text, path, ...more) {
    if (dirname(path) !== bundle) return compile.call(this, text, path, ...more);
    const file = join(caches, entry, basename(path));
    const cachedData = readCache(file);
    const script = new Script(Module.wrap(text), {
      filename: path,
      ...(cachedData && { cachedData }),
    });
    isComplete &&= cachedData !== undefined && script.cachedDataRejected !== true;
    scripts.set(file, script);
    const wrapped = script.runInThisContext() as Wrapped;
    return wrapped.call(this.exports, this.exports, createRequire(path), this, path, bundle);
  };
  /* oxlint-enable no-underscore-dangle */
  process.once('exit', () => {
    if (!isComplete) scripts.forEach((script, file) => writeCache(file, script.createCachedData()));
  });
  return createRequire(import.meta.url)(join(bundle, entry));
};
