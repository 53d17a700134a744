// The WebAssembly module of the record scan. The build replaces this file by the module's bytes:
// src/cli/compile.mjs.

import { scanModule } from './record-scan.ts';
import { moduleBytes } from '../wasm-module.ts';

export const scanBytes = moduleBytes(scanModule);
