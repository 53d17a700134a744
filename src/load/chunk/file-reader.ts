// Chooses how a file is read: its splitter, decoder and COPY statement.

import type { Dialect, ReadTable } from '../../core/declaration.ts';
import type { Position, SourceFile } from '../../core/model.ts';
import {
  copyBinary,
  copySkipping,
  copyText,
  copyVerbatim,
  noQuote,
  type StagingColumn,
} from '../../db/staging.ts';
import { encodeTextRow } from './encode-text.ts';
import { typeOf } from '../../format/types/registry.ts';
import { blockDecoder } from '../../format/rows/compiled-decoder.ts';
import { createRowMaker } from '../../format/rows/row-maker.ts';
import { canPass } from '../../format/rows/row-routine.ts';
import { streamRows, type StreamedRows, type StreamEnd } from '../../format/rows/stream-rows.ts';
import { binaryHead, binaryTail } from '../../format/types/row-bytes.ts';
import type { Decoder } from '../../format/rows/decoder.ts';
import { createSplitter, type Splitter } from '../../format/records/splitter.ts';
import { createVerbatimDecoder } from '../../format/rows/verbatim-decoder.ts';
import {
  createServedReader,
  createSuspectReader,
  isServed,
  type ServedReader,
  type SuspectReader,
} from './served-texts.ts';

export interface FileCopy {
  readonly target: string;
  readonly columns: readonly string[];
  readonly statement: string;
  /** COPY that skips refused rows. Undefined if no column's type is known only to the server. */
  readonly skipping?: string;
  readonly head: Buffer;
  readonly tail: Buffer;
}

export interface FileReader {
  readonly copy: FileCopy;
  readonly splitter: Splitter;
  readonly decode: Decoder;
  /** Decodes bytes as they are read. Undefined: records must be found first. */
  readonly stream?: RowStream;
  readonly servedTexts: ServedReader;
  readonly suspects: SuspectReader;
}

type RowStream = (
  reads: AsyncIterable<Buffer>,
  start: Position,
  last: StreamEnd,
) => AsyncGenerator<StreamedRows, void>;

const nothing = Buffer.alloc(0);

export interface DecoderChoice {
  /** 'compiled to text': rows are text, because only the server can read a column. */
  readonly decoder: 'compiled' | 'compiled to text' | 'verbatim';
  readonly why: string;
}

/** Text for the valid records that only slower code (format/rows/record-judge.ts) reads. */
const judgedRecords = ({ delimiter, escapes, escape, quote, quotes }: Dialect): string | undefined => {
  const seesNulls = quote === null && Buffer.byteLength(delimiter) === 1;
  if (escapes !== null) return seesNulls ? String.raw`with another backslash than \N` : 'with a backslash';
  if (quotes === 'lenient') return 'with quotes that only lenient reading takes';
  return escape === null || escape === quote ? undefined : `with the escape ${escape}`;
};

/** Text for the records whose end the fast scan (format/records/record-pass.ts) may not find. */
const walkedRecords = ({ delimiter, escape, quote, lineEnd }: Dialect): string | undefined => {
  if (lineEnd === 'crlf' || lineEnd === 'cr') return `between line ends '${lineEnd}'`;
  const isOdd = Buffer.byteLength(delimiter) > 1 || (escape !== null && escape !== quote);
  return quote !== null && isOdd ? 'with quotes' : undefined;
};

const slowParts = (dialect: Dialect): string => {
  const [judged, walked] = [judgedRecords(dialect), walkedRecords(dialect)];
  const parts = [
    ...(judged === undefined ? [] : [`records ${judged} are read one by one`]),
    ...(walked === undefined ? [] : [`records ${walked} are found byte by byte`]),
  ];
  return parts.length === 0 ? '' : `; ${parts.join(' and ')}, which is slower`;
};

export const chooseDecoder = (table: ReadTable): DecoderChoice => {
  if (table.staging === 'text') return { decoder: 'verbatim', why: 'its staging is text' };
  const slowly = slowParts(table.format.dialect);
  const served = table.columns.find(isServed);
  return served === undefined
    ? { decoder: 'compiled', why: `it supports the table’s dialect and types${slowly}` }
    : {
        decoder: 'compiled to text',
        why: `the server reads column ${served.name}, of type ${typeOf(served).sql(served.options)}${slowly}`,
      };
};

export const createFileReader = (
  file: SourceFile,
  table: ReadTable,
  staging: readonly StagingColumn[],
  target: string,
): FileReader => {
  const { dialect } = table.format;
  const copy = { target, columns: staging.map(({ name }) => name), head: nothing, tail: nothing };
  const common = {
    splitter: createSplitter(dialect, file.header.length, file.lineEnd),
    servedTexts: createServedReader(table, file),
    suspects: (): readonly number[] => [],
  };
  const { decoder } = chooseDecoder(table);
  if (decoder === 'verbatim')
    return {
      ...common,
      copy: { ...copy, statement: copyVerbatim(target, staging, dialect) },
      decode: createVerbatimDecoder(table, file.header.length, noQuote),
      suspects: createSuspectReader(table, file),
    };
  const maker = createRowMaker(table, file, decoder === 'compiled' ? undefined : encodeTextRow);
  const decode = blockDecoder(maker);
  const stream: RowStream | undefined = canPass(maker.table)
    ? (reads, start, last) => streamRows(maker, decode, common.splitter, reads, start, last)
    : undefined;
  if (decoder === 'compiled')
    return {
      ...common,
      copy: { ...copy, statement: copyBinary(target, staging), head: binaryHead, tail: binaryTail },
      decode,
      stream,
    };
  return {
    ...common,
    copy: {
      ...copy,
      statement: copyText(target, staging),
      skipping: copySkipping(target, staging),
    },
    decode,
    stream,
  };
};
