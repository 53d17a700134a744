// All decodings and archive formats. To add one: a file beside this one, and a line here.

import { brotli } from './brotli.ts';
import type { Container, Decoding } from './contract.ts';
import { gzip } from './gzip.ts';
import { zip } from './zip.ts';
import { zstd } from './zstd.ts';

export const decodings: readonly Decoding[] = [gzip, zstd, brotli];
export const containers: readonly Container[] = [zip];

export const decodingNamed = (name: string): Decoding =>
  decodings.find((decoding) => decoding.name === name)!;

export const containerNamed = (name: string): Container =>
  containers.find((container) => container.name === name)!;

export const containerOf = (head: Buffer): Container | undefined =>
  containers.find(({ matches }) => matches(head));

export const decodingOf = (head: Buffer): Decoding | undefined =>
  decodings.find(({ matches }) => matches(head));

/** Finds the compression by the first bytes, else by the name. Undefined if none, or empty. */
export const decodingOfFile = (head: Buffer, name: string): Decoding | undefined => {
  if (head.length === 0) return undefined;
  const path = name.toLowerCase();
  return (
    decodingOf(head) ?? decodings.find(({ extension }) => extension !== undefined && path.endsWith(extension))
  );
};
