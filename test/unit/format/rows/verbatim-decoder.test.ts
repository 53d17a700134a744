// The verbatim decoder: which bytes COPY gets, and records that COPY would misread.

import { describe, expect, it } from 'vitest';
import { noQuote } from '../../../../src/db/staging.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { createVerbatimDecoder } from '../../../../src/format/rows/verbatim-decoder.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { blocksOf, tableOf } from '../records/reading.ts';

interface Case {
  readonly name: string;
  readonly input: string | Buffer;
  /** Bytes for COPY. Default: the bytes of the file. */
  readonly sent?: string;
  readonly rejects?: readonly string[];
  readonly options?: CsvOptions;
  readonly fields?: number;
}

const latin1 = Buffer.from('é,x\n', 'latin1');
const cases: readonly Case[] = [
  { name: 'plain records go untouched', input: 'a,b\n c ,\n' },
  { name: 'bytes that are not UTF-8 are the server’s to judge', input: latin1 },
  { name: 'another number of fields is the server’s to judge', input: 'a\na,b,c\n' },
  { name: 'a missing last newline is written', input: 'a,b', sent: 'a,b\n' },
  { name: 'blank lines are left out', input: '\na,b\n\r\n\nc,d\n', sent: 'a,b\nc,d\n' },
  { name: 'blank lines of one field are kept', input: '\na\n\n', fields: 1 },
  { name: 'newlines become LF', input: 'a,b\r\nc,d\r\r\ne,f\n', sent: 'a,b\nc,d\ne,f\n' },
  {
    name: 'a CR, which COPY would take for the end of every line, is rejected',
    input: 'a\r,b\nc,d\n',
    sent: 'c,d\n',
    rejects: ['line_end@0:1'],
  },
  { name: 'quoted newlines stay', input: '"a\r\nb\r",c\r\n', sent: '"a\r\nb\r",c\n' },
  { name: 'comments are left out', input: '#x\na,b\n', options: { comment: '#' }, sent: 'a,b\n' },
  { name: 'a lone \\. of one field is quoted', input: 'a\n\\.\nb\n', fields: 1, sent: 'a\n"\\."\nb\n' },
  {
    name: 'and in the stand-in quote when there is none',
    input: '\\.\n',
    fields: 1,
    options: { quote: null },
    sent: '\u0001\\.\u0001\n',
  },
  {
    name: 'a lone \\. of several fields is rejected',
    input: 'a,b\n\\.\n',
    sent: 'a,b\n',
    rejects: ['field_count@4:2'],
  },
  { name: '\\. within a record is data', input: 'a,\\.\n\\.b,c\n' },
  {
    name: 'the stand-in quote is rejected when there is no quote',
    input: 'a,"\nb,\u0001\n',
    options: { quote: null },
    sent: 'a,"\n',
    rejects: ['quote@4:2'],
  },
  { name: 'and is data when there is', input: 'a,\u0001\n' },
  {
    name: 'an unclosed quote is rejected',
    input: 'a,b\n"c,d\ne,f\n',
    sent: 'a,b\ne,f\n',
    rejects: ['quote@4:2'],
  },
  {
    name: 'stray quotes, which COPY would read over the record’s end, are rejected',
    input: 'a"b,c\nd"e,f\ng,h\n',
    sent: 'g,h\n',
    rejects: ['quote@0:1', 'quote@6:2'],
  },
  {
    name: 'stray quotes, which COPY would drop, are rejected',
    input: '5" pipe",x\n"a"b,c\n',
    sent: '',
    rejects: ['quote@0:1', 'quote@11:2'],
  },
];

describe('verbatim decoder', () => {
  it.each(cases)('$name', async ({ input, sent, rejects = [], options = {}, fields = 2 }) => {
    const table = tableOf(options);
    const decode = createVerbatimDecoder(table, fields, noQuote);
    const bytes = Buffer.from(input as string);
    const decoded = (await blocksOf([bytes], createSplitter(table.format.dialect, fields, 'lf'))).map(decode);
    const copied = Buffer.concat(decoded.map(({ copyBytes }) => copyBytes));
    expect(copied.toString('latin1')).toBe(
      (sent === undefined ? bytes : Buffer.from(sent)).toString('latin1'),
    );
    const found = decoded.flatMap((block) => block.rejects);
    expect(found.map(({ code, position }) => `${code}@${position.byte}:${position.line}`)).toEqual(rejects);
    for (const { counts } of decoded) expect(counts.records).toBe(counts.copied + counts.rejected);
  });
});
