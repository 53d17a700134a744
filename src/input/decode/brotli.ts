// brotli (RFC 7932). Nothing marks its first bytes and nothing checks its content: files are known by their names.

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
