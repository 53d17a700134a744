// The WebAssembly module of the record scan. The build replaces this file by the module's bytes:
// src/cli/build/compile.mjs.

import { scanModule } from './record-scan.ts';
import { moduleBytes } from '../wasm/wasm-module.ts';

export const scanBytes = moduleBytes(scanModule);
