// Keeps V8's compiled code of the bundle in files, so that a program and its threads start faster:
// compiling takes longer than a small run. Node's own cache (22 and later) saves a third of it.

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

/** Returns undefined if there is none. */
const readCache = (file) => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

/** Other processes read complete files only. Without permission to write there is no cache. */
const writeCache = (file, bytes) => {
  const aside = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(aside, bytes);
    renameSync(aside, file);
  } catch {}
};

/**
 * Makes `require` compile the modules of a directory with the cache, and fills the cache when the
 * process or thread ends: only then has V8 compiled the functions that were called.
 */
export const useCodeCache = (directory, cacheDirectory) => {
  const compile = module.prototype._compile;
  const added = [];
  module.prototype._compile = function compileCached(text, path, ...rest) {
    if (dirname(path) !== directory) return compile.call(this, text, path, ...rest);
    const { mtimeMs } = statSync(path);
    const file = join(cacheDirectory, `${basename(path)}.${mtimeMs}.${process.version}`);
    const cachedData = readCache(file);
    const script = new Script(module.wrap(text), {
      filename: path,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (cachedData === undefined || script.cachedDataRejected) added.push([file, script]);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, createRequire(path), this, path, directory);
  };
  process.once('exit', () => {
    for (const [file, script] of added) writeCache(file, script.createCachedData());
  });
};
