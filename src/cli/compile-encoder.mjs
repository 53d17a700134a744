// Compiles the AssemblyScript of src/format/assembly to encoder.wasm.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sources = 'src/format/assembly';

const writtenAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const isMade = (output) =>
  readdirSync(join(root, sources)).every(
    (name) => writtenAt(join(root, sources, name)) < writtenAt(output),
  ) && writtenAt(fileURLToPath(import.meta.url)) < writtenAt(output);

const options = [
  '-O3',
  '--converge',
  '--enable=simd',
  '--runtime=stub',
  '--importMemory',
  '--noAssert',
  // Tells the optimizer that addresses below 1024 are used, too: it would fold constants wrongly.
  '--memoryBase=8',
  // Addresses have 32 bits here, so it does not matter that constants do not say usize.
  '--disableWarning=201',
];

/** Compiles into `directory` if a source is younger than the module there. Returns the module's path. */
export const compileEncoder = async (directory = join(root, 'dist')) => {
  const output = join(directory, 'encoder.wasm');
  if (isMade(output)) return output;
  mkdirSync(directory, { recursive: true });
  const asc = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');
  const files = [join(sources, 'index.ts'), '--baseDir', root, '--outFile', output];
  const child = spawn(process.execPath, [asc, ...files, ...options], { stdio: ['ignore', 2, 'pipe'] });
  const [problems, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (status !== 0) throw new Error(`the encoder does not compile:\n${problems}`);
  return output;
};
