// Compiles the sources, as `etl --build`, the first command of a checkout and the tests need them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const migrations = 'db/bookkeeping/migrations';

/**
 * Modules that export bytes which other modules make. What is compiled has just the bytes: otherwise each loading thread would
 * load thirty files and take 50 ms to make them again.
 */
const ofBytes = [
  'format/encoder/encoder-bytes.js',
  'format/split/scan-bytes.js',
  'tools/init/infer/counter-bytes.js',
];

const findCompiler = () => {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    throw Object.assign(new Error('sluice is not compiled, and TypeScript is not installed'), {
      hint: 'Run `npm ci` in its checkout.',
    });
  }
};

const storeBytes = async (file) => {
  const exported = Object.entries(await import(pathToFileURL(file).href));
  const lines = exported.map(
    ([name, bytes]) =>
      `export const ${name} = Buffer.from('${Buffer.from(bytes).toString('base64')}', 'base64');\n`,
  );
  writeFileSync(file, lines.join(''));
};

/** Fills a new directory of the checkout, where the compiled files find their packages; false: there are compiler errors. */
export const compileInto = async (directory) => {
  const tsc = [findCompiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', directory];
  const [status] = await once(spawn(process.execPath, tsc, { cwd: root, stdio: ['ignore', 2, 2] }), 'close');
  cpSync(join(root, 'src', migrations), join(directory, migrations), { recursive: true });
  for (const path of ofBytes) await storeBytes(join(directory, path));
  await bundle(directory);
  return status === 0;
};
