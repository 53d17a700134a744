// Runs a TypeScript file as a program of its own, with a library, compiled or not, as `sluice`.
//
//   node run-typescript.mjs <url of the library, or ''> <file> [argument …]

import { createJiti } from 'jiti';

// The program finds its arguments after its own name.
const [library] = process.argv.splice(2, 1);
const [, , file] = process.argv;
const load = () => (library.endsWith('.ts') ? createJiti(import.meta.url).import(library) : import(library));
const virtualModules = library === '' ? {} : { sluice: await load() };
await createJiti(file, { virtualModules }).import(file);
