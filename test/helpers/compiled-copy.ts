// A compiled copy of this checkout, for tests that run `etl` while somebody may replace dist/.

import { execFileSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { library } from './run-typescript.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Copies the sources and what they are compiled to, and returns the path of etl.mjs. */
export const compileCopy = (directory: string): string => {
  for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const program = join(directory, 'src/cli/etl.mjs');
  // A run of the tests has compiled them (compiled-threads.ts).
  if (library.endsWith('.js'))
    cpSync(dirname(fileURLToPath(library)), join(directory, 'dist'), { recursive: true });
  // Otherwise the first use of a checkout compiles it, and touches nothing outside of it.
  execFileSync(process.execPath, [program, '--version'], { stdio: 'ignore' });
  return program;
};
