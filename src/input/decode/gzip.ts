// gzip: one or several gzip members in a row (RFC 1952).

import { createGunzip } from 'node:zlib';
import { readBytes } from '../../core/limits.ts';
import type { Decoding } from './contract.ts';
import { throughZlib } from './through-zlib.ts';

const magic = Buffer.from([0x1f, 0x8b]);

export const gzip: Decoding = {
  name: 'gzip',
  matches: (head) => head.subarray(0, magic.length).equals(magic),
  decode: (bytes) => throughZlib(bytes, createGunzip({ chunkSize: readBytes }), 'gzip'),
};
