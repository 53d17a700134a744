// Collects texts of a file that are not ASCII, as evidence about its encoding.

import { isAscii, isUtf8 } from 'node:buffer';

/** Beyond this number, only texts with a byte that no earlier text has are collected. */
const textsMax = 400;
const textBytesMax = 4096;

export interface TextSurvey {
  /** Different texts between delimiters, quotes and line ends. */
  readonly texts: readonly Buffer[];
  /** Every byte from 80 to ff that the file has. */
  readonly highBytes: Buffer;
  /** True if nearly all texts are valid UTF-8: the others are faults of the file. */
  readonly isUtf8: boolean;
}

/** Bytes that end a text. In no encoding are they part of a longer character. */
const separators = Buffer.from('\n\r\t,;"\u0001');
const isSeparator = Uint8Array.from({ length: 256 }, (_, byte) => Number(separators.includes(byte)));

const sliceBytes = 16 * 1024;

/** A file is UTF-8 with faults if it has this many valid texts for each invalid text. */
const validPerInvalid = 3;

interface Collected {
  readonly texts: Map<string, Buffer>;
  readonly inTexts: Uint8Array;
  readonly inFile: Uint8Array;
}

const collect = ({ texts, inTexts }: Collected, text: Buffer): void => {
  if (text.length > textBytesMax) return;
  const isNew = (byte: number): boolean => byte > 0x7f && inTexts[byte] === 0;
  if (texts.size >= textsMax && !text.some(isNew)) return;
  texts.set(text.toString('latin1'), Buffer.from(text));
  for (const byte of text) inTexts[byte] = 1;
};

/** Returns the index after the last separator of a slice; `otherwise` if it has none. */
const afterSeparator = (bytes: Buffer, from: number, to: number, otherwise: number): number => {
  for (let at = to - 1; at >= from; at -= 1) if (isSeparator[bytes[at]!] === 1) return at + 1;
  return otherwise;
};

/** Returns the index where the last text begins, which may continue in the next block. */
const collectFrom = (bytes: Buffer, collected: Collected): number => {
  let start = 0;
  let hasHigh = false;
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    const to = Math.min(bytes.length, from + sliceBytes);
    if (!hasHigh && isAscii(bytes.subarray(from, to))) {
      start = afterSeparator(bytes, from, to, start);
      continue;
    }
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]!;
      if (byte > 0x7f) {
        hasHigh = true;
        collected.inFile[byte] = 1;
      } else if (isSeparator[byte] === 1) {
        if (hasHigh) collect(collected, bytes.subarray(start, at));
        start = at + 1;
        hasHigh = false;
      }
    }
  }
  return start;
};

/** Reads a file to its end, in bounded memory. */
export const surveyTexts = async (blocks: AsyncIterable<Buffer>): Promise<TextSurvey> => {
  const collected: Collected = {
    texts: new Map(),
    inTexts: new Uint8Array(256),
    inFile: new Uint8Array(256),
  };
  let rest = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([rest, block]);
    // A longer text is not collected, so its first bytes are enough.
    rest = bytes.subarray(collectFrom(bytes, collected)).subarray(0, textBytesMax + 1);
  }
  if (!isAscii(rest)) collect(collected, rest);
  const texts = [...collected.texts.values()];
  const valid = texts.filter((text) => isUtf8(text)).length;
  return {
    texts,
    highBytes: Buffer.from(
      Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => collected.inFile[byte] === 1),
    ),
    isUtf8: valid > 0 && valid >= validPerInvalid * (texts.length - valid),
  };
};
