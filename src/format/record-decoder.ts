// The record decoder: csv-parse finds the fields, the column readers check them, rows come out as COPY text.

import type { SourceTableSpec } from '../declaration.ts';
import type { Reject } from '../model.ts';
import type { Decoder, RowEncoder } from './decoder.ts';
import { createRecordJudge, filtered, rejectOf, type Fault } from './record-judge.ts';

/**
 * Makes the record decoder of a table for files with this header.
 *
 * Errors: ETL_USER_FUNCTION when a function of the pipeline throws. Everything wrong with the data is a reject.
 */
export const createRecordDecoder = (
  table: SourceTableSpec,
  header: readonly string[],
  file: string,
  encodeRow: RowEncoder,
): Decoder => {
  const { judgeBlock } = createRecordJudge(table, header, file);
  return (block) => {
    const rows: string[] = [];
    const rejects: Reject[] = [];
    judgeBlock(block, (judgement, index) => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) rows.push(encodeRow(judgement));
      else rejects.push(rejectOf(block, index, judgement as Fault));
    });
    const [records, copied, rejected] = [block.spans.starts.length, rows.length, rejects.length];
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: Buffer.from(rows.join('')), counts, rejects };
  };
};
