// The record decoder, which the compiled one is compared with: the record judge alone, by csv-parse and the column readers.

import type { ReadTable } from '../../../../src/core/declaration/declaration.ts';
import type { Reject } from '../../../../src/core/model.ts';
import { createRowBytes, reserve } from '../../../../src/format/types/row-bytes.ts';
import type { Decoder, RowEncoder } from '../../../../src/format/rows/decoder.ts';
import type { DecodedFile } from '../../../../src/format/records/file-fields.ts';
import { createRecordJudge, filtered, rejectOf } from '../../../../src/format/rows/record-judge.ts';
import type { Faulty } from '../../../../src/format/records/record-parser.ts';

/** A unit of a text, two bytes in memory, is at most so many bytes of UTF-8. */
const bytesPerUnitMax = 3;

/**
 * Makes the record decoder of a table for a file.
 *
 * Errors: ETL_USER_FUNCTION when a function of the pipeline throws. Everything wrong with the data is a reject.
 */
export const createRecordDecoder = (table: ReadTable, file: DecodedFile, encodeRow: RowEncoder): Decoder => {
  const judge = createRecordJudge(table, file);
  const out = createRowBytes(0);
  /** Each row at once: texts that wait for the end of their block outlive the cheap part of the garbage collection. */
  const put = (row: string): void => {
    reserve(out, bytesPerUnitMax * row.length);
    out.at += out.bytes.write(row, out.at);
  };
  return (block) => {
    out.at = 0;
    let copied = 0;
    const rejects: Reject[] = [];
    judge(block, 0, block.spans.starts.length, (judgement, index) => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) {
        put(encodeRow(judgement));
        copied += 1;
      } else rejects.push(rejectOf(block, index, judgement as Faulty));
    });
    const [records, rejected] = [block.spans.starts.length, rejects.length];
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: out.bytes.subarray(0, out.at), counts, rejects };
  };
};
