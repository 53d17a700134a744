// Writes the module of the row encoder, or with `records` that of the record scan, to standard output: see `npm run encoder:dump`.

import { encoderBytes } from '../src/format/encoder/encoder-bytes.ts';
import { scanBytes } from '../src/format/records/scan-bytes.ts';

process.stdout.write(process.argv[2] === 'records' ? scanBytes : encoderBytes);
