// Compiles the sources for `etl --build`, for the first command in a checkout, and for tests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { writeCommonJsTypes } from './common-js-types.mjs';
import { compileEncoder } from './compile-encoder.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

const migrations = 'db/bookkeeping/migrations';

const findCompiler = () => {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    throw Object.assign(new Error('sluice is not compiled, and TypeScript is not installed'), {
      hint: 'Run `npm ci` in its checkout.',
    });
  }
};

/** Stores the WebAssembly module in the module that reads it, so that the bundle contains it. */
const storeEncoder = async (directory) => {
  const bytes = readFileSync(await compileEncoder(directory)).toString('base64');
  const file = join(directory, 'format/encoder/encoder-bytes.js');
  writeFileSync(file, `export const encoderBytes = Buffer.from('${bytes}', 'base64');\n`);
};

/** Compiles into a directory of the checkout, where node_modules is found. False: errors. */
export const compileInto = async (directory) => {
  const tsc = [findCompiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', directory];
  const [status] = await once(spawn(process.execPath, tsc, { cwd: root, stdio: ['ignore', 2, 2] }), 'close');
  cpSync(join(root, 'src', migrations), join(directory, migrations), { recursive: true });
  writeCommonJsTypes(directory);
  await storeEncoder(directory);
  await bundle(directory);
  return status === 0;
};
