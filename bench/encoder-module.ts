// Writes the WebAssembly module to standard output: see `npm run encoder:dump`.

import { encoderBytes } from '../src/format/encoder/encoder-bytes.ts';

process.stdout.write(encoderBytes);
