// The field counter's WebAssembly module. The build replaces this file by the module's bytes
// (src/cli/compile.mjs).

import { moduleBytes } from '../../format/wasm-module.ts';
import { counterModule } from './counter-code.ts';

export const counterBytes = moduleBytes(counterModule);
