// The decodings and archives that there are. Adding one is a file beside this one and a line here.

import { brotli } from './brotli.ts';
import type { Container, Decoding } from './contract.ts';
import { gzip } from './gzip.ts';
import { zip } from './zip.ts';
import { zstd } from './zstd.ts';

export const decodings: readonly Decoding[] = [gzip, zstd, brotli];
export const containers: readonly Container[] = [zip];

/** The decoding with this name in the ledger. */
export const decodingNamed = (name: string): Decoding =>
  decodings.find((decoding) => decoding.name === name)!;

/** The archive format with this name in the ledger. */
export const containerNamed = (name: string): Container =>
  containers.find((container) => container.name === name)!;

/** The format of an archive that begins with these bytes; undefined: it is none. */
export const containerOf = (head: Buffer): Container | undefined =>
  containers.find(({ matches }) => matches(head));

/** How bytes are encoded that begin with these; undefined: their beginning does not tell. */
export const decodingOf = (head: Buffer): Decoding | undefined =>
  decodings.find(({ matches }) => matches(head));

/** How a file is encoded: its first bytes go before its name. An empty file is encoded in nothing. */
export const decodingOfFile = (head: Buffer, name: string): Decoding | undefined => {
  if (head.length === 0) return undefined;
  const path = name.toLowerCase();
  return (
    decodingOf(head) ?? decodings.find(({ extension }) => extension !== undefined && path.endsWith(extension))
  );
};
