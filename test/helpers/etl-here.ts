// A program: the command line of this checkout's sources, in whatever directory it is started.
//
//   etl-here.ts <argument …>

import { main } from '../../src/cli/main.ts';

process.exitCode = await main(process.argv.slice(3));
