#!/usr/bin/env node
// The program `sluice`: `etl` under the name of the package.

await import('./etl.mjs');
