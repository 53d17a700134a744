// Windows of records: which records the row routine gets together, and which go to the judge.

import { describe, expect, it } from 'vitest';
import { windowsOf } from '../../../../src/format/rows/windows.ts';
import { windowBytes } from '../../../../src/format/assembly/memory.ts';
import { splitterOf, startOfFile } from './reading.ts';

const split = splitterOf({ comment: '#' });

/** The windows of a content: `from`, `to`, and true for the row routine. */
const windows = (content: string | Buffer, escape = ''): (readonly [number, number, boolean])[] => {
  const bytes = Buffer.from(content as string);
  const spans = split.split(bytes, true);
  const block = { bytes, spans, position: startOfFile, fileBytes: bytes.length };
  return [...windowsOf(block, escape === '' ? -1 : escape.charCodeAt(0))].map(({ from, to, isFit }) => [
    from,
    to,
    isFit,
  ]);
};

describe('windowsOf', () => {
  it('takes all records of a block together, whatever ends their lines', () => {
    expect(windows('1,a\n2,b\r\n3,c')).toEqual([[0, 3, true]]);
    expect(windows('')).toEqual([]);
  });

  it('ends a window before it has more bytes than fit', () => {
    const record = `1,${'a'.repeat(windowBytes / 4 - 3)}\n`;
    expect(windows(record.repeat(9))).toEqual([
      [0, 4, true],
      [4, 8, true],
      [8, 9, true],
    ]);
  });

  it('leaves a record that does not fit to the judge', () => {
    const long = `2,${'a'.repeat(windowBytes)}\n`;
    expect(windows(`1,a\n${long}3,c\n`)).toEqual([
      [0, 1, true],
      [1, 2, false],
      [2, 3, true],
    ]);
  });

  it('begins a window after a comment, whose quotes mean nothing', () =>
    expect(windows('1,a\n# "\n2,b\n3,c\n')).toEqual([
      [0, 1, true],
      [1, 3, true],
    ]));

  it.each([
    { what: 'a fault', bad: '2,"b"c\n' },
    { what: 'bytes that are no character', bad: Buffer.from('2,\xff\n', 'latin1') },
    { what: 'a zero byte', bad: '2,\0\n' },
  ])('leaves a record with $what to the judge, and no other', ({ bad }) => {
    const content = Buffer.concat([
      Buffer.from('1,a\n'),
      Buffer.from(bad as string),
      Buffer.from('3,ä\n4,d\n'),
    ]);
    expect(windows(content)).toEqual([
      [0, 1, true],
      [1, 2, false],
      [2, 4, true],
    ]);
  });

  it('gives records that escape to the judge together', () =>
    expect(windows('1,a\n2,\\b\n3,\\c\n4,d\n', '\\')).toEqual([
      [0, 1, true],
      [1, 3, false],
      [3, 4, true],
    ]));
});
