// Which records of a block the row routine may see together.

import { isUtf8 } from 'node:buffer';
import type { RecordBlock } from '../split/record-blocks.ts';
import { recordBytes } from '../record-parser.ts';
import { windowBytes } from '../encoder/memory.ts';

/** Records [from, to) are for the routine; when `to` is `from`, that record is for the judge. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** CRLF. */
const newlineBytesMax = 2;

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** Yields the records of a block in order: without a fault, of whole characters, one after the other, and not too many. */
export function* windowsOf(block: RecordBlock): Generator<Window, void> {
  const { starts, ends, faults } = block.spans;
  const records = starts.length;
  const isAllText = isText(block.bytes);
  const isFit = (index: number): boolean =>
    !faults.has(index) && (isAllText || isText(recordBytes(block, index)));
  /** A comment may stand before the record, with quotes that are none. */
  const isBehindGap = (index: number): boolean => starts[index]! - ends[index - 1]! > newlineBytesMax;
  for (let from = 0; from < records;) {
    let to = from;
    // Fewer bytes than fit: the lists hold as many records, and each but the last has its newline.
    while (to < records && ends[to]! - starts[from]! < windowBytes && isFit(to)) {
      to += 1;
      if (to < records && isBehindGap(to)) break;
    }
    yield { from, to };
    from = Math.max(to, from + 1);
  }
}
