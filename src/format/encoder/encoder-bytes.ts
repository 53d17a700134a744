// The module of the row encoder. What is built has its bytes and none of the files that make them: see src/cli/build/compile.mjs.

import { moduleBytes } from '../simd/wasm-module.ts';
import { encoderModule } from './routines.ts';

export const encoderBytes = moduleBytes(encoderModule);
