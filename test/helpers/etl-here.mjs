// A program: the command line, compiled or not, in whatever directory it is started.
//
//   node etl-here.mjs <url of cli/main> <argument …>

import { createJiti } from 'jiti';

const [, , url, ...args] = process.argv;
const { main } = await (url.endsWith('.ts') ? createJiti(import.meta.url).import(url) : import(url));
process.exitCode = await main(args);
