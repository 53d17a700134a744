// Records are cut out of the bytes of a file, wherever the blocks of bytes end.

import { expect, it } from 'vitest';
import { withoutRecords } from '../../../../src/tools/verify/count-file.ts';

it.each([
  { lineEnd: 'LF', newline: 10, text: 'a\nb"\nc\nd\n', cut: { byte: 2, lines: 1 }, left: 'a\nc\nd\n' },
  { lineEnd: 'LF', newline: 10, text: 'a\n"b\nc\nd\n', cut: { byte: 2, lines: 2 }, left: 'a\nd\n' },
  { lineEnd: 'CR', newline: 13, text: 'a\rb"\rc\r', cut: { byte: 2, lines: 1 }, left: 'a\rc\r' },
  {
    lineEnd: 'CR and a line feed once',
    newline: 13,
    text: 'a\rb"\r\nc\r',
    cut: { byte: 2, lines: 1 },
    left: 'a\rc\r',
  },
])('$text with $lineEnd, in blocks of each size, has $left left', async ({ newline, text, cut, left }) => {
  for (let size = 1; size <= text.length; size += 1) {
    const blocks = async function* (): AsyncGenerator<Buffer, void> {
      for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
    };
    const cuts = (async function* () {
      yield cut;
    })();
    let counted = 0;
    const found: Buffer[] = [];
    for await (const block of withoutRecords(blocks(), 0, cuts, newline, () => (counted += 1)))
      found.push(block);
    expect([Buffer.concat(found).toString(), counted]).toEqual([left, 1]);
  }
});
