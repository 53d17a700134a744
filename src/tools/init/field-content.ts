// Finds the content of a field of a regular record, without quotes around it.

import { ok as assert } from 'node:assert';
import { isQuoteFault, rawFields } from '../../format/records/raw-fields.ts';
import type { Grammar } from '../../format/records/grammar.ts';

interface FieldBytes {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

export type FindContent = (field: FieldBytes) => FieldBytes;

export const contentFinder =
  (grammar: Grammar): FindContent =>
  (field) => {
    const { bytes, from, to } = field;
    const raw = bytes.subarray(from, to);
    const open = raw.indexOf(grammar.quote);
    if (open === -1) return field;
    const isWhole = open === 0 && raw.indexOf(grammar.quote, 1) === raw.length - 1;
    if (isWhole) return { bytes, from: from + 1, to: to - 1 };
    const fields = rawFields(raw, grammar);
    assert(!isQuoteFault(fields), 'the splitter found no fault');
    // `content` is null only for \N, in dialects with backslash escapes.
    const content = fields[0]!.content!;
    return { bytes: content, from: 0, to: content.length };
  };
