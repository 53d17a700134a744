// Records are cut out of the bytes of a file, wherever the blocks of bytes end.

import { expect, it } from 'vitest';
import { withoutRecords } from '../../../../src/tools/verify/count-file.ts';

it.each([
  ['a\nb"\nc\nd\n', 'LF', 'a\nc\nd\n', 10, { byte: 2, lines: 1 }],
  ['a\n"b\nc\nd\n', 'LF', 'a\nd\n', 10, { byte: 2, lines: 2 }],
  ['a\rb"\rc\r', 'CR', 'a\rc\r', 13, { byte: 2, lines: 1 }],
  ['a\rb"\r\nc\r', 'CR and a line feed once', 'a\rc\r', 13, { byte: 2, lines: 1 }],
])('%s with %s, in blocks of each size, has %s left', async (text, _, left, newline, cut) => {
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
