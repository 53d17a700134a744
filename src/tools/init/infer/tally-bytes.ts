// The WebAssembly module of the tally. The build contains its bytes instead of the files that make them: see src/cli/build/compile.mjs.

import { moduleBytes } from '../../../format/wasm/wasm-module.ts';
import { tallyModule } from './tally-code.ts';

export const tallyBytes = moduleBytes(tallyModule);
