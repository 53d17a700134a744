// How one table is loaded: decoder, COPY statement and counts, put together once and shared by its segments.

import type { PipelineSpec, SourceTableSpec } from '../declaration.ts';
import type { Counts, SourceFile } from '../model.ts';
import { copyText, copyVerbatim, noQuote, type StagingColumn } from '../copy/staging.ts';
import { encodeTextRow } from '../copy/encode-text.ts';
import type { Decoder } from '../format/decoder.ts';
import { createRecordDecoder } from '../format/record-decoder.ts';
import { createSplitter, type Splitter } from '../format/splitter.ts';
import { createVerbatimDecoder } from '../format/verbatim-decoder.ts';

export interface TableLoad {
  readonly table: SourceTableSpec;
  readonly copyStatement: string;
  readonly decoderFor: (file: SourceFile) => Decoder;
  readonly splitterFor: (file: SourceFile) => Splitter;
}

/** Chooses the decoder of a table. */
export const createTableLoad = (
  spec: PipelineSpec,
  table: SourceTableSpec,
  staging: readonly StagingColumn[],
): TableLoad => {
  const { dialect } = table.source;
  const splitterFor = (file: SourceFile): Splitter => createSplitter(dialect, file.header.length);
  if (table.staging === 'text')
    return {
      table,
      splitterFor,
      copyStatement: copyVerbatim(spec.name, table.name, staging, dialect),
      decoderFor: (file) => createVerbatimDecoder(table, file.header.length, noQuote),
    };
  return {
    table,
    splitterFor,
    copyStatement: copyText(spec.name, table.name, staging),
    decoderFor: (file) => createRecordDecoder(table, file.header, file.name, encodeTextRow),
  };
};

export const noCounts: Counts = { records: 0, copied: 0, rejected: 0, filtered: 0 };

export const addCounts = (a: Counts, b: Counts): Counts => ({
  records: a.records + b.records,
  copied: a.copied + b.copied,
  rejected: a.rejected + b.rejected,
  filtered: a.filtered + b.filtered,
});
