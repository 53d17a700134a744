// Keeps V8's compiled code of the bundle and of jiti in files, so that the program and its threads
// start faster: compiling the bundle takes longer than a small run. Node's own cache saves less,
// and only Node 22 and later has it.

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
 * The caches are in dist/: each build begins without them, and only users who can change the bundle
 * can add code. V8 refuses the code of other V8 versions, but hardly checks the source.
 */
const caches = join(dist, 'code-cache', process.version);

/**
 * Returns the file name for a module's code; undefined: the code is not kept. The name of jiti's
 * code has a hash, because no build begins when somebody installs another version of jiti.
 */
const cacheName = (path: string, text: string): string | undefined => {
  if (dirname(path) === bundle) return basename(path);
  if (!/[/\\]jiti[/\\]dist[/\\]\w+\.cjs$/.test(path)) return undefined;
  const { createHash } = process.getBuiltinModule('node:crypto');
  return `jiti-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.cjs`;
};

const readCache = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

/** Stores compiled code. Does nothing without permission to write into the package. */
const writeCache = (file: string, code: Buffer): void => {
  const aside = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(aside, code);
    // Renamed when complete, so that other processes never read half a file.
    renameSync(aside, file);
  } catch {
    // Without the file, the next start compiles the code again.
  }
};

/**
 * Loads an entry point of the bundle and the modules that it requires, each with its code cache. If
 * a cache is missing, the code of all modules is stored when the process or thread ends: only then
 * has V8 compiled all functions that were called.
 */
export const requireCached = (entry: string): unknown => {
  // Overrides a private method: Node has no public way to compile a CommonJS module with our cache.
  /* oxlint-disable no-underscore-dangle */
  const prototype = Module.prototype as unknown as { _compile: Compile };
  const compile = prototype._compile;
  const scripts = new Map<string, Script>();
  let isComplete = true;
  prototype._compile = function compileCached(text, path, ...more) {
    const name = cacheName(path, text);
    if (name === undefined) return compile.call(this, text, path, ...more);
    const file = join(caches, entry, name);
    const cachedData = readCache(file);
    const script = new Script(Module.wrap(text), {
      filename: path,
      ...(cachedData && { cachedData }),
    });
    isComplete &&= cachedData !== undefined && script.cachedDataRejected !== true;
    scripts.set(file, script);
    const wrapped = script.runInThisContext() as Wrapped;
    return wrapped.call(this.exports, this.exports, createRequire(path), this, path, dirname(path));
  };
  /* oxlint-enable no-underscore-dangle */
  process.once('exit', () => {
    if (!isComplete) scripts.forEach((script, file) => writeCache(file, script.createCachedData()));
  });
  return createRequire(import.meta.url)(join(bundle, entry));
};
