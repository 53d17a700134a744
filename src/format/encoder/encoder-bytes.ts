// The WebAssembly module of the row encoder. The build replaces this file by the module's bytes:
// src/cli/compile.mjs.

import { moduleBytes } from '../wasm-module.ts';
import { encoderModule } from './routines.ts';

export const encoderBytes = moduleBytes(encoderModule);
