// How files of one reading of a table are loaded: decoder and COPY statement.

import type { Dialect, ReadTable } from '../../core/declaration/declaration.ts';
import type { SourceFile } from '../../core/model.ts';
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
import { createCompiledDecoder } from '../../format/rows/compiled-decoder.ts';
import { binaryHead, binaryTail } from '../../format/types/row-bytes.ts';
import type { Decoder } from '../../format/rows/decoder.ts';
import { createSplitter, type Splitter } from '../../format/split/splitter.ts';
import { createVerbatimDecoder } from '../../format/rows/verbatim-decoder.ts';
import {
  createServedReader,
  createSuspectReader,
  isServed,
  type ServedReader,
  type SuspectReader,
} from './served-texts.ts';

/** Bytes before and after the rows of one COPY. */
export interface CopyFrame {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** The table that COPY fills. */
export interface Landing {
  /** Its quoted name. */
  readonly target: string;
  /** Names of its columns, in the order of COPY. */
  readonly columns: readonly string[];
  readonly copyStatement: string;
  /** COPY that skips rows with a text that the server refuses; undefined: no column is read by the server. */
  readonly skippingStatement?: string;
  readonly frame: CopyFrame;
}

export interface TableLoad {
  readonly table: ReadTable;
  readonly landing: Landing;
  readonly decoderFor: (file: SourceFile) => Decoder;
  /** Reads what only the server can judge. */
  readonly servedTextsFor: (file: SourceFile) => ServedReader;
  readonly suspectsFor: (file: SourceFile) => SuspectReader;
  readonly splitterFor: (file: SourceFile) => Splitter;
}

const nothing = Buffer.alloc(0);
const noFrame: CopyFrame = { head: nothing, tail: nothing };
const binaryFrame: CopyFrame = { head: binaryHead, tail: binaryTail };

/** Which decoder files get, and why, for the plan. */
export interface DecoderChoice {
  /** The compiled decoder writes rows in COPY's binary format, or as text if the server has to read a column. */
  readonly decoder: 'compiled' | 'compiled to text' | 'verbatim';
  readonly why: string;
}

/** Records that the compiled decoder leaves to the record judge, although they have no fault. */
const judgedRecords = ({ delimiter, escapes, escape, quote, quotes }: Dialect): string | undefined => {
  const seesNulls = quote === null && Buffer.byteLength(delimiter) === 1;
  if (escapes !== null) return seesNulls ? String.raw`with another backslash than \N` : 'with a backslash';
  if (quotes === 'lenient') return 'with quotes that only lenient reading takes';
  return escape === null || escape === quote ? undefined : `with the escape ${escape}`;
};

/** Records whose ends the fast pass (format/split/record-pass.ts) does not look for, or cannot be sure of. */
const walkedRecords = ({ delimiter, escape, quote, lineEnd }: Dialect): string | undefined => {
  if (lineEnd === 'crlf' || lineEnd === 'cr') return `between line ends '${lineEnd}'`;
  const isOdd = Buffer.byteLength(delimiter) > 1 || (escape !== null && escape !== quote);
  return quote !== null && isOdd ? 'with quotes' : undefined;
};

/** What is slower than the decoder's name says. */
const slowParts = (dialect: Dialect): string => {
  const [judged, walked] = [judgedRecords(dialect), walkedRecords(dialect)];
  const parts = [
    ...(judged === undefined ? [] : [`records ${judged} are read one by one`]),
    ...(walked === undefined ? [] : [`records ${walked} are found byte by byte`]),
  ];
  return parts.length === 0 ? '' : `; ${parts.join(' and ')}, which is slower`;
};

/** The compiled decoder, unless the bytes are taken over as they are. */
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

/** Puts the loading of files together; `target` is the quoted name of the table that COPY fills. */
export const createTableLoad = (
  target: string,
  table: ReadTable,
  staging: readonly StagingColumn[],
): TableLoad => {
  const { dialect } = table.format;
  const named = { target, columns: staging.map(({ name }) => name) };
  const common = {
    table,
    servedTextsFor: (file: SourceFile) => createServedReader(table, file),
    suspectsFor: (): SuspectReader => () => [],
    splitterFor: (file: SourceFile) => createSplitter(dialect, file.header.length, file.lineEnd),
  };
  const { decoder } = chooseDecoder(table);
  if (decoder === 'verbatim')
    return {
      ...common,
      landing: { ...named, frame: noFrame, copyStatement: copyVerbatim(target, staging, dialect) },
      decoderFor: (file) => createVerbatimDecoder(table, file.header.length, noQuote),
      suspectsFor: (file) => createSuspectReader(table, file),
    };
  if (decoder === 'compiled')
    return {
      ...common,
      landing: { ...named, frame: binaryFrame, copyStatement: copyBinary(target, staging) },
      decoderFor: (file) => createCompiledDecoder(table, file),
    };
  return {
    ...common,
    landing: {
      ...named,
      frame: noFrame,
      copyStatement: copyText(target, staging),
      skippingStatement: copySkipping(target, staging),
    },
    decoderFor: (file) => createCompiledDecoder(table, file, encodeTextRow),
  };
};
