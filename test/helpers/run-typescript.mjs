// Runs a TypeScript file as a program of its own, with `sluice` as this checkout's sources are.
//
//   node run-typescript.mjs <file> [argument …]

import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';

const sluice = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
const [, , file] = process.argv;
await createJiti(file, { alias: { sluice } }).import(file);
