// The record decoder, with which the compiled decoder is compared: the record judge alone, that is
// csv-parse and the column readers.

import type { ReadTable } from '../../../../src/core/declaration.ts';
import type { Reject } from '../../../../src/core/model.ts';
import { createRowBytes, reserve } from '../../../../src/format/types/row-bytes.ts';
import type { Decoder, RowEncoder } from '../../../../src/format/rows/decoder.ts';
import type { DecodedFile } from '../../../../src/format/records/file-fields.ts';
import { createRecordJudge, filtered, rejectOf } from '../../../../src/format/rows/record-judge.ts';
import type { Faulty } from '../../../../src/format/records/record-parser.ts';

/** Most bytes in UTF-8 of a UTF-16 code unit. */
const bytesPerUnitMax = 3;

/**
 * Makes the record decoder of a table for a file.
 * Errors: ETL_USER_FUNCTION if a user's function throws. Bad data becomes rejects.
 */
export const createRecordDecoder = (table: ReadTable, file: DecodedFile, encodeRow: RowEncoder): Decoder => {
  const judge = createRecordJudge(table, file);
  const out = createRowBytes(0);
  /**
   * Writes each row at once: texts that wait for the end of their block would survive young garbage
   * collection.
   */
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
