// The WebAssembly module of the record scan. The build contains its bytes instead of the files that make them: see src/cli/build/compile.mjs.

import { scanModule } from './record-scan.ts';
import { moduleBytes } from '../wasm/wasm-module.ts';

export const scanBytes = moduleBytes(scanModule);
