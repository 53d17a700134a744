// Writes the module of the row encoder, or with `records` that of the record scan, to standard output: see `npm run encoder:dump`.

import { encoderModule } from '../src/format/encoder/routines.ts';
import { scanModule } from '../src/format/simd/record-scan.ts';
import { moduleBytes } from '../src/format/simd/wasm-module.ts';

process.stdout.write(moduleBytes(process.argv[2] === 'records' ? scanModule : encoderModule));
