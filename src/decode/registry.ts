// The decodings that there are. Adding one is a file beside this one and a line here.

import type { Decoding } from './contract.ts';
import { gzip } from './gzip.ts';

export const decodings: readonly Decoding[] = [gzip];

/** The decoding with this name in the ledger. */
export const decodingNamed = (name: string): Decoding =>
  decodings.find((decoding) => decoding.name === name)!;

/** How a file is encoded that begins with these bytes; undefined: it is not. */
export const decodingOf = (head: Buffer): Decoding | undefined =>
  decodings.find(({ matches }) => matches(head));
