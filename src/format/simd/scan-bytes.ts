// The module of the record scan. What is built has its bytes and none of the files that make them: see src/cli/build/compile.mjs.

import { scanModule } from './record-scan.ts';
import { moduleBytes } from './wasm-module.ts';

export const scanBytes = moduleBytes(scanModule);
