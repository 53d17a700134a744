// Writes files of a shape, to be loaded by hand or by `npm run bench -- --table`:
//
//   npm run bench:files -- titles DIRECTORY [records, default 1000000] [files, default 2] [seed, default 1]

import { generate } from './generate.ts';
import { shapes } from './shapes/shapes.ts';

const [name, directory, ...numbers] = process.argv.slice(2);
const [records = 1_000_000, files = 2, seed = 1] = numbers.map(Number);
const shape = shapes.find((each) => each.name === name);
if (shape === undefined || directory === undefined)
  throw new Error(`name a shape and a directory: ${shapes.map((each) => each.name).join(', ')}`);
const written = await generate(shape.files, directory, records, files, seed);
for (const { path, records: count, bytes } of written.files)
  console.log(`${path}: ${count} records, ${bytes} bytes`);
