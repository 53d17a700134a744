// Lets the loading threads of a test and the programs that it starts run compiled JavaScript, as those of users do:
// TypeScript takes each thread 0.3 s to start, and each program a second.

import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'vitest/config';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** In the checkout, where its packages are found; git ignores the name. */
const compiled = join(root, `.etl-build-test-${process.pid}`);

const dist = join(root, 'dist');

/** When each file below a path was written, and each folder got or lost one. */
const timesBelow = (path: string): number[] => {
  const stat = statSync(path);
  const names = stat.isDirectory() ? readdirSync(path) : [];
  return [stat.mtimeMs, ...names.flatMap((name) => timesBelow(join(path, name)))];
};

/** Whether dist/ is younger than all that it is made of, as after `npm ci`. */
const isBuilt = (): boolean => {
  if (!existsSync(dist)) return false;
  const made = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  const changed = made.flatMap((name) => timesBelow(join(root, name)));
  return Math.max(...changed) < Math.min(...timesBelow(dist));
};

/** The module that reads dist/encoder.wasm. */
const readsEncoder = join(root, 'src/format/encoder/encoder-bytes.ts');

const compileEncoder = async (): Promise<void> => {
  const module = (await import(pathToFileURL(join(root, 'src/cli/compile-encoder.mjs')).href)) as {
    compileEncoder: () => Promise<string>;
  };
  await module.compileEncoder();
};

const compile = async (): Promise<void> => {
  if (isBuilt()) return cpSync(dist, compiled, { recursive: true });
  const { compileInto } = (await import(pathToFileURL(join(root, 'src/cli/compile.mjs')).href)) as {
    compileInto: (directory: string) => Promise<boolean>;
  };
  // What does not satisfy the compiler is compiled all the same; npm run check says what it is.
  await compileInto(compiled);
};

const compiledUrl = (path: string): string => JSON.stringify(pathToFileURL(join(compiled, path)).href);

/** A module that looks for the thread's module next to itself takes itself for the compiled one. */
const asCompiled = (path: string): [string, (code: string) => string] => [
  `src/${path}.ts`,
  (code) => code.replaceAll('import.meta.url', compiledUrl(`${path}.js`)),
];

/** How the modules that start something find what is compiled. */
const redirects = new Map<string, (code: string) => string>([
  asCompiled('load/thread/thread-loader'),
  asCompiled('load/thread/reader'),
  [
    'test/helpers/run-typescript.ts',
    (code) => code.replace(/'\.\.\/\.\.\/src\/index\.ts'/, compiledUrl('index.js')),
  ],
]);

/** Compiles this checkout once, when the first test imports such a module, or copies dist/. While files are watched, the sources run. */
export const compiledThreads = (): Plugin => {
  let compiling: Promise<void> | undefined;
  let encoding: Promise<void> | undefined;
  let isWatching = false;
  return {
    name: 'compiled-threads',
    enforce: 'pre',
    configureVitest: ({ vitest }) => {
      isWatching = vitest.config.watch;
      vitest.onClose(() => rmSync(compiled, { recursive: true, force: true }));
    },
    transform: async (code, id) => {
      if (id === readsEncoder) await (encoding ??= compileEncoder());
      const redirect = redirects.get(relative(root, id));
      if (isWatching || redirect === undefined) return undefined;
      await (compiling ??= compile());
      return redirect(code);
    },
  };
};
