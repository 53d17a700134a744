// brotli (RFC 7932). It has no magic number and no checksum, so file names decide.

import { createBrotliDecompress } from 'node:zlib';
import { readBytes } from '../../core/limits.ts';
import type { Decoding } from './contract.ts';
import { throughZlib } from './through-zlib.ts';

export const brotli: Decoding = {
  name: 'brotli',
  matches: () => false,
  extension: '.br',
  decode: (bytes) => throughZlib(bytes, createBrotliDecompress({ chunkSize: readBytes }), 'brotli'),
};
