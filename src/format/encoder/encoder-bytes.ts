// The WebAssembly module that assembly/index.ts becomes. The build replaces this file by the
// module's bytes: src/cli/compile.mjs.

import { readFileSync } from 'node:fs';

export const encoderBytes: Uint8Array = readFileSync(new URL('../../../dist/encoder.wasm', import.meta.url));
