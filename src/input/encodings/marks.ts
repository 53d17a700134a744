// Byte order marks, which name the encoding of a file.

import type { EncodingName } from './labels.ts';

const marks: readonly (readonly [EncodingName, Buffer])[] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
];

/** This mark begins with the mark of UTF-16LE, but no text in UTF-16LE begins with a NUL. */
const markOfUtf32 = Buffer.of(0xff, 0xfe, 0, 0);

const beginsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark);

/** Returns the encoding that a file's mark names. Undefined without a mark, and for UTF-32. */
export const markedEncoding = (head: Buffer): EncodingName | undefined =>
  beginsWith(head, markOfUtf32) ? undefined : marks.find(([, mark]) => beginsWith(head, mark))?.[0];
