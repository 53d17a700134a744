// Lets the loading threads of a test run compiled JavaScript, as those of users do: TypeScript takes each one 0.3 s to start.

import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'vitest/config';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** In the checkout, where its packages are found; git ignores the name. */
const compiled = join(root, `.etl-build-test-${process.pid}`);

const compile = async (): Promise<void> => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', compiled];
  // What does not satisfy the compiler is compiled all the same; npm run check says what it is.
  await new Promise<void>((resolve) => execFile(process.execPath, args, () => resolve()));
  cpSync(join(root, 'src/db/bookkeeping/migrations'), join(compiled, 'db/bookkeeping/migrations'), {
    recursive: true,
  });
};

/** Compiles this checkout once, when the first test imports what starts threads. While files are watched, threads run them. */
export const compiledThreads = (): Plugin => {
  let compiling: Promise<void> | undefined;
  let isWatching = false;
  return {
    name: 'compiled-threads',
    configureVitest: ({ vitest }) => {
      isWatching = vitest.config.watch;
      vitest.onClose(() => rmSync(compiled, { recursive: true, force: true }));
    },
    // The module finds the thread's own beside itself: it is told that it is the compiled one.
    transform: async (code, id) => {
      if (isWatching || id !== join(root, 'src/run/load/thread-loader.ts')) return undefined;
      await (compiling ??= compile());
      const itself = pathToFileURL(join(compiled, 'run/load/thread-loader.js')).href;
      return code.replaceAll('import.meta.url', JSON.stringify(itself));
    },
  };
};
