// A program: loads the tables of a fuzzed load, a file of which is piped into it, and prints what the run says.
//
//   fuzz-piped.ts <file with the load as JSON>     DATABASE_URL names the server

import { readFileSync } from 'node:fs';
import { loadHere, type PipedLoad } from './fuzz-load.ts';

const [, , , path = ''] = process.argv;
const { name, tables, run } = JSON.parse(readFileSync(path, 'utf8')) as PipedLoad;
const said = await loadHere(name, tables, { databaseUrl: process.env['DATABASE_URL']!, ...run });
const isError = 'error' in said;
console.log(
  JSON.stringify(isError ? { error: { code: said.error.code, message: said.error.message } } : said),
);
