// The splitter: where records begin and end, with bytes in one piece and cut at every position.

import { describe, expect, it } from 'vitest';
import { cutAt, splitPieces, splitterOf } from '../records/reading.ts';
import { splitCases, type SplitCase } from '../records/splitter-cases.ts';
import { faultCases } from '../records/splitter-fault-cases.ts';

const cases = [...splitCases, ...faultCases];

const split = (pieces: readonly Buffer[], { options = {}, fields = 2, lineEnd }: SplitCase) =>
  splitPieces(pieces, splitterOf(options, fields, lineEnd));

describe('splitter', () => {
  it.each(cases)('$name', async (row) => {
    const bytes = Buffer.from(row.input);
    const { records, end } = await split([bytes], row);
    const shown = records.map(
      ({ text, byte, line, fault }) => `${text}@${byte}:${line}${fault === undefined ? '' : `!${fault}`}`,
    );
    expect(shown).toEqual(row.records);
    expect(records.map(({ record }) => record)).toEqual(records.map((_, index) => index + 1));
    expect(end).toEqual({ byte: bytes.length, line: row.endLine, record: row.records.length + 1 });
  });

  it.each(cases)('cut at every byte: $name', async (row) => {
    const bytes = Buffer.from(row.input);
    const whole = await split([bytes], row);
    for (let place = 0; place <= bytes.length; place += 1)
      expect(await split(cutAt(bytes, place), row), `cut at ${place}`).toEqual(whole);
    const single = cutAt(bytes, ...Array.from(bytes, (_, place) => place));
    expect(await split(single, row), 'byte by byte').toEqual(whole);
  });

  it('calls bytes plain only when they are nothing but records with LF', () => {
    const rows = [
      { input: 'a,b\nc,d\n', plain: true },
      { input: 'a,b\nc,d', plain: false },
      { input: 'a,b\n\nc,d\n', plain: false },
      { input: 'a,b\r\n', plain: false },
      { input: '"a",b\n"c\nd","e""f"\n', plain: true },
      { input: '"a"b,c\n', plain: false },
    ];
    const plain = rows.map(({ input }) => splitterOf({}).split(Buffer.from(input), true).plain);
    expect(plain).toEqual(rows.map((row) => row.plain));
  });
});
