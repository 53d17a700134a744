// The WebAssembly module of the row encoder. The build contains its bytes instead of the files that make them: see src/cli/build/compile.mjs.

import { moduleBytes } from '../wasm/wasm-module.ts';
import { encoderModule } from './routines.ts';

export const encoderBytes = moduleBytes(encoderModule);
