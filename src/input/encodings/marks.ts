// Byte order marks: the first bytes of a file that say its encoding.

import type { EncodingName } from './labels.ts';

const marks: readonly (readonly [EncodingName, Buffer])[] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
];

/** It begins like the one of UTF-16, and no text in UTF-16 has a NUL there. */
const markOfUtf32 = Buffer.of(0xff, 0xfe, 0, 0);

const beginsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark);

/** The encoding that the first bytes of a file say; undefined: they have no mark. */
export const markedEncoding = (head: Buffer): EncodingName | undefined =>
  beginsWith(head, markOfUtf32) ? undefined : marks.find(([, mark]) => beginsWith(head, mark))?.[0];
