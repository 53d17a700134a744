// Passes records to COPY as they are, except those that COPY would misread.

import type { ReadTable } from '../../core/declaration.ts';
import { rejectCodes, type Reject } from '../../core/model.ts';
import type { Decoder } from './decoder.ts';
import type { RecordBlock } from '../records/record-blocks.ts';
import { recordAt } from './record-judge.ts';

const newline = Buffer.from('\n');
const endOfData = Buffer.from('\\.');

type Replacement = Buffer | { readonly code: Reject['code']; readonly reason: string } | undefined;

/** `standInQuote` is the control character that COPY gets as quote if the dialect has none. */
export const createVerbatimDecoder = (table: ReadTable, fields: number, standInQuote: string): Decoder => {
  const { quote } = table.format.dialect;
  const replacement = (record: Buffer): Replacement => {
    if (quote === null && record.includes(standInQuote))
      return {
        code: 'quote',
        reason: 'the record holds the control character 0x01, which COPY uses as quote for this file',
      };
    if (!record.equals(endOfData)) return undefined;
    // Before PostgreSQL 18, a line of only `\.` silently ends a COPY, also in csv format.
    if (fields > 1) return { code: 'field_count', reason: `the record has 1 field, the header ${fields}` };
    return Buffer.from(`${quote ?? standInQuote}\\.${quote ?? standInQuote}`);
  };
  return (block) => {
    const { bytes, spans } = block;
    const isClean =
      spans.plain && !bytes.includes(endOfData) && (quote !== null || !bytes.includes(standInQuote));
    const records = spans.starts.length;
    if (isClean)
      return {
        copyBytes: bytes,
        counts: { records, copied: records, rejected: 0, filtered: 0 },
        rejects: [],
      };
    return decodeOneByOne(block, replacement);
  };
};

/** Ends each record with LF: COPY refuses mixed line ends, and counts blank lines as records. */
const decodeOneByOne = (
  block: RecordBlock,
  replacement: (record: Buffer) => Replacement,
): ReturnType<Decoder> => {
  const { bytes, spans } = block;
  const parts: Buffer[] = [];
  const rejects: Reject[] = [];
  for (const [index, start] of spans.starts.entries()) {
    const record = bytes.subarray(start, spans.ends[index]);
    const fault = spans.faults.get(index) ?? undefined;
    const replaced = fault === undefined ? replacement(record) : { code: fault, reason: rejectCodes[fault] };
    if (replaced === undefined || Buffer.isBuffer(replaced)) parts.push(replaced ?? record, newline);
    else {
      rejects.push({ column: null, ...replaced, ...recordAt(block, index) });
    }
  }
  const records = spans.starts.length;
  const counts = { records, copied: records - rejects.length, rejected: rejects.length, filtered: 0 };
  return { copyBytes: Buffer.concat(parts), counts, rejects };
};
