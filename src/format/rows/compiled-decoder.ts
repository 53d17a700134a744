// Decodes records with the row routine (WebAssembly), which leaves unusual records undecided.
// record-judge.ts decodes these records, and words all rejects. So the result is the same as with
// record-judge.ts alone. Proved by compiled-oracle.test.ts and text-rows.test.ts in
// test/unit/format/records, and test/integration/compiled.test.ts.

import { BACKSLASH } from '../../core/characters.ts';
import type { ReadTable } from '../../core/declaration.ts';
import type { Reject } from '../../core/model.ts';
import type { Decoder, RowEncoder } from './decoder.ts';
import type { DecodedFile } from '../records/file-fields.ts';
import { filtered, rejectOf, type Judgement } from './record-judge.ts';
import type { Faulty } from '../records/record-parser.ts';
import { createRowBytes, reserve } from '../types/row-bytes.ts';
import { createRowMaker, type RowMaker } from './row-maker.ts';
import { beginRows, encodeWindow, startRowRoutine, type RowRoutine } from './row-routine.ts';
import { windowsOf } from './windows.ts';

/** The routine for blocks. Its memory is used only while a block is decoded. */
let shared: RowRoutine | undefined;

/** `encodeRow` is given if rows are in COPY's text format. */
export const createCompiledDecoder = (table: ReadTable, file: DecodedFile, encodeRow?: RowEncoder): Decoder =>
  blockDecoder(createRowMaker(table, file, encodeRow));

export const blockDecoder = ({ table, judge, putRow }: RowMaker): Decoder => {
  const { quote, escape, escapesAll, delimiter } = table.grammar;
  const foreignEscape = escape === quote ? -1 : escape;
  /** The routine recognizes `\N` only without quotes, and between one-byte delimiters. */
  const nulls = escapesAll && quote === -1 && delimiter.length === 1 ? delimiter[0] : undefined;
  const out = createRowBytes(0);
  return (block) => {
    const { bytes } = block;
    out.at = 0;
    reserve(out, bytes.length);
    const rejects: Reject[] = [];
    const records = block.spans.starts.length;
    let copied = 0;
    const take = (judgement: Judgement, index: number): void => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) {
        putRow(judgement, out);
        copied += 1;
      } else rejects.push(rejectOf(block, index, judgement as Faulty));
    };
    const hasQuote = quote !== -1 && bytes.includes(quote);
    const routine = (shared ??= startRowRoutine());
    beginRows(routine, table, hasQuote ? quote : -1);
    const unquoted = hasQuote ? foreignEscape : -1;
    const escaping = escapesAll ? BACKSLASH : unquoted;
    for (const { from, to, isFit } of windowsOf(block, escaping, nulls)) {
      if (!isFit) judge(block, from, to, take);
      else
        for (const part of encodeWindow(routine, block, from, to, out)) {
          copied += part.copied;
          if (part.isUnsure) judge(block, part.next, part.next + 1, take);
        }
    }
    const rejected = rejects.length;
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: out.bytes.subarray(0, out.at), counts, rejects };
  };
};
