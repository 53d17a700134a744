// All decodings and archive formats. To add one: a file beside this one, and a line here.

import { brotli } from './brotli.ts';
import type { Container, Decoding } from './contract.ts';
import { gzip } from './gzip.ts';
import { zip } from './zip.ts';
import { zstd } from './zstd.ts';

export const decodings: readonly Decoding[] = [gzip, zstd, brotli];
export const containers: readonly Container[] = [zip];

/** The decoding with a name from the ledger. */
export const decodingNamed = (name: string): Decoding =>
  decodings.find((decoding) => decoding.name === name)!;

/** The archive format with a name from the ledger. */
export const containerNamed = (name: string): Container =>
  containers.find((container) => container.name === name)!;

/** The archive format of a file with these first bytes; undefined: the file is no archive. */
export const containerOf = (head: Buffer): Container | undefined =>
  containers.find(({ matches }) => matches(head));

/** The decoding of a file with these first bytes; undefined: they tell nothing. */
export const decodingOf = (head: Buffer): Decoding | undefined =>
  decodings.find(({ matches }) => matches(head));

/** The decoding of a file by first bytes, else by name; undefined: not compressed, or empty. */
export const decodingOfFile = (head: Buffer, name: string): Decoding | undefined => {
  if (head.length === 0) return undefined;
  const path = name.toLowerCase();
  return (
    decodingOf(head) ?? decodings.find(({ extension }) => extension !== undefined && path.endsWith(extension))
  );
};
