// The splitter: where each record begins and ends, in one piece and cut at every byte.

import { describe, expect, it } from 'vitest';
import type { CsvOptions } from '../../../src/pipeline/csv.ts';
import { cutAt, splitPieces, splitterOf } from './reading.ts';

interface Case {
  readonly name: string;
  readonly input: string;
  /** `text@byte:line`, and `!fault`; the record number is the place in the list. */
  readonly records: readonly string[];
  /** Line after the last byte. */
  readonly endLine: number;
  readonly options?: CsvOptions;
  readonly fields?: number;
}

const cases: readonly Case[] = [
  { name: 'LF ends a record', input: 'a,b\nc,d\n', records: ['a,b@0:1', 'c,d@4:2'], endLine: 3 },
  { name: 'CRLF ends a record', input: 'a,b\r\nc,d\r\n', records: ['a,b@0:1', 'c,d@5:2'], endLine: 3 },
  { name: 'CR ends a record', input: 'a,b\rc,d\r', records: ['a,b@0:1', 'c,d@4:2'], endLine: 3 },
  { name: 'newlines may be mixed', input: 'a,b\r\nc,d\ne,f\rg,h', records: ['a,b@0:1', 'c,d@5:2', 'e,f@9:3', 'g,h@13:4'], endLine: 4 },
  { name: 'the last newline may be missing', input: 'a,b\nc,d', records: ['a,b@0:1', 'c,d@4:2'], endLine: 2 },
  { name: 'a CR that ends the file is a newline', input: 'a,b\nc,d\r', records: ['a,b@0:1', 'c,d@4:2'], endLine: 3 },
  { name: 'no bytes hold no record', input: '', records: [], endLine: 1 },
  { name: 'blank lines are no records of several fields', input: '\na,b\n\n\r\n\rc,d\n\n', records: ['a,b@1:2', 'c,d@9:6'], endLine: 8 },
  { name: 'blank lines are records of one field', input: '\na\n\r\nb\n\n', fields: 1, records: ['@0:1', 'a@1:2', '@3:3', 'b@5:4', '@7:5'], endLine: 6 },
  { name: 'the end of the file is no record of one field', input: 'a\n', fields: 1, records: ['a@0:1'], endLine: 2 },
  { name: 'a line of blanks is a record', input: 'a,b\n  \nc,d\n', records: ['a,b@0:1', '  @4:2', 'c,d@7:3'], endLine: 4 },
  { name: 'a line of blanks is a record, also with trim', input: ' \nc,d\n', options: { trim: true }, records: [' @0:1', 'c,d@2:2'], endLine: 3 },
  { name: 'comment lines are no records', input: '#a\nb,c\r\n#d\r\n#e', options: { comment: '#' }, records: ['b,c@3:2'], endLine: 4 },
  { name: 'a comment in a record is data', input: 'a,#b\n', options: { comment: '#' }, records: ['a,#b@0:1'], endLine: 2 },
  { name: 'a comment behind blanks is data', input: ' #a,b\n', options: { comment: '#', trim: true }, records: [' #a,b@0:1'], endLine: 2 },
  { name: 'a comment may hold an open quote', input: '#it is "\na,b\n', options: { comment: '#' }, records: ['a,b@9:2'], endLine: 3 },
  { name: 'a comment mark may have several characters', input: '-- a\n-b,c\n', options: { comment: '--' }, records: ['-b,c@5:2'], endLine: 3 },
  { name: 'a quoted comment mark is data', input: '"#a",b\n', options: { comment: '#' }, records: ['"#a",b@0:1'], endLine: 2 },
  { name: 'a quoted newline does not end the record', input: '"a\nb",c\nd,e\n', records: ['"a\nb",c@0:1', 'd,e@8:3'], endLine: 4 },
  { name: 'quoted CRLF and CR count one line each', input: '"a\r\nb\rc",d\ne,f\n', records: ['"a\r\nb\rc",d@0:1', 'e,f@11:4'], endLine: 5 },
  { name: 'a quoted CR before the closing quote counts', input: '"a\r"\r\nb,c\n', records: ['"a\r"@0:1', 'b,c@6:3'], endLine: 4 },
  { name: 'a line of a quoted field may look like a comment', input: '"a\n#b",c\n', options: { comment: '#' }, records: ['"a\n#b",c@0:1'], endLine: 3 },
  { name: 'a doubled quote does not close', input: '"a""\nb",c\nd,e\n', records: ['"a""\nb",c@0:1', 'd,e@10:3'], endLine: 4 },
  { name: 'quotes only', input: '"""",""\n"",""""""\n', records: ['"""",""@0:1', '"",""""""@8:2'], endLine: 3 },
  { name: 'a quote that ends the file closes', input: 'a,"b"', records: ['a,"b"@0:1'], endLine: 1 },
  { name: 'an escape protects a quote', input: '"a\\"\nb",c\nd,e\n', options: { escape: '\\' }, records: ['"a\\"\nb",c@0:1', 'd,e@10:3'], endLine: 4 },
  { name: 'an escape protects an escape', input: '"a\\\\",b\nc,d\n', options: { escape: '\\' }, records: ['"a\\\\",b@0:1', 'c,d@8:2'], endLine: 3 },
  { name: 'an escape before another character is data', input: '"a\\b",c\nd,e\n', options: { escape: '\\' }, records: ['"a\\b",c@0:1', 'd,e@8:2'], endLine: 3 },
  { name: 'an escape outside quotes is data', input: 'a\\,"b"\nc\\\n', options: { escape: '\\' }, records: ['a\\,"b"@0:1', 'c\\@7:2'], endLine: 3 },
  { name: 'with another escape, a doubled quote does not escape', input: '"a""\nb",c\n', options: { escape: '\\' }, records: ['"a""@0:1!quote', 'b",c@5:2!quote'], endLine: 3 },
  { name: 'quotes are data when there is no quote', input: '"a\nb",c\n', options: { quote: null }, records: ['"a@0:1', 'b",c@3:2'], endLine: 3 },
  { name: 'another quote', input: "'a\n\"',b\n", options: { quote: "'" }, records: ["'a\n\"',b@0:1"], endLine: 3 },
  { name: 'a delimiter of several characters', input: '"a||\n"||b\n|"c||d\n', options: { delimiter: '||' }, records: ['"a||\n"||b@0:1', '|"c||d@10:3!quote'], endLine: 4 },
  { name: 'a quote behind half a delimiter is data', input: 'a|"b\nc||"d\n"\n', options: { delimiter: '||' }, records: ['a|"b@0:1!quote', 'c||"d\n"@5:2'], endLine: 4 },
  { name: 'a delimiter beyond ASCII', input: 'é§"a\n§"\nü§b\n', options: { delimiter: '§' }, records: ['é§"a\n§"@0:1', 'ü§b@11:3'], endLine: 4 },
  { name: 'a delimiter that begins like its neighbour', input: 'Â©§"x\ny"\n', options: { delimiter: '§' }, records: ['Â©§"x\ny"@0:1'], endLine: 3 },
  { name: 'characters of two to four bytes', input: 'é,€\n"𝄞\n",ü\n', records: ['é,€@0:1', '"𝄞\n",ü@7:2'], endLine: 4 },
  { name: 'a stray quote costs its record', input: 'a"b,c\nd,e\n', records: ['a"b,c@0:1!quote', 'd,e@6:2'], endLine: 3 },
  { name: 'two stray quotes cost a record each', input: 'a"b,c\nd"e,f\ng,h\n', records: ['a"b,c@0:1!quote', 'd"e,f@6:2!quote', 'g,h@12:3'], endLine: 4 },
  { name: 'a pair of stray quotes costs its record', input: '5" pipe,6" pipe\nc,d\n', records: ['5" pipe,6" pipe@0:1!quote', 'c,d@16:2'], endLine: 3 },
  { name: 'text behind a closing quote costs its record', input: '"a"b,c\nd,e\n', records: ['"a"b,c@0:1!quote', 'd,e@7:2'], endLine: 3 },
  { name: 'a blank behind a closing quote costs its record', input: '"a" ,c\nd,e\n', records: ['"a" ,c@0:1!quote', 'd,e@7:2'], endLine: 3 },
  { name: 'a quote behind a blank is stray', input: ' "a\nb",c\n', records: [' "a@0:1!quote', 'b",c@4:2!quote'], endLine: 3 },
  { name: 'with trim, a quote may stand behind blanks', input: ' \t"a\nb"\t ,c\nd,e\n', options: { trim: true }, records: [' \t"a\nb"\t ,c@0:1', 'd,e@12:3'], endLine: 4 },
  { name: 'with trim, text behind blanks behind a quote is a fault', input: '"a" b,c\n', options: { trim: true }, records: ['"a" b,c@0:1!quote'], endLine: 2 },
  { name: 'with trim, a quote behind text is stray', input: 'a "b",c\n', options: { trim: true }, records: ['a "b",c@0:1!quote'], endLine: 2 },
  { name: 'a quote that is never closed costs its line', input: 'a,b\n"c,d\ne,f\ng,h', records: ['a,b@0:1', '"c,d@4:2!quote', 'e,f@9:3', 'g,h@13:4'], endLine: 4 },
  { name: 'a quote that is never closed in the last line', input: 'a,b\nc,"', records: ['a,b@0:1', 'c,"@4:2!quote'], endLine: 2 },
  { name: 'an escape at the end closes nothing', input: '"a\\"', options: { escape: '\\' }, records: ['"a\\"@0:1!quote'], endLine: 1 },
  { name: 'a byte order mark is not its business', input: '\ufeffa,b\n', records: ['\ufeffa,b@0:1'], endLine: 2 },
  { name: 'a trailing delimiter is not its business', input: 'a,b,\n"c",d,\n', records: ['a,b,@0:1', '"c",d,@5:2'], endLine: 3 },
  { name: 'a NUL is a byte like others', input: 'a\0,b\n', records: ['a\0,b@0:1'], endLine: 2 },
];

const split = (pieces: readonly Buffer[], { options = {}, fields = 2 }: Case) =>
  splitPieces(pieces, splitterOf(options, fields));

describe('splitter', () => {
  it.each(cases)('$name', async (row) => {
    const bytes = Buffer.from(row.input);
    const { records, end } = await split([bytes], row);
    const shown = records.map(({ text, byte, line, fault }) => `${text}@${byte}:${line}${fault ? `!${fault}` : ''}`);
    expect(shown).toEqual(row.records);
    expect(records.map(({ record }) => record)).toEqual(records.map((_, index) => index + 1));
    expect(end).toEqual({ byte: bytes.length, line: row.endLine, record: row.records.length + 1 });
  });

  it.each(cases)('cut at every byte: $name', async (row) => {
    const bytes = Buffer.from(row.input);
    const whole = await split([bytes], row);
    for (let place = 0; place <= bytes.length; place += 1)
      expect(await split(cutAt(bytes, place), row), `cut at ${place}`).toEqual(whole);
    const single = cutAt(bytes, ...Array.from(bytes, (_, place) => place));
    expect(await split(single, row), 'byte by byte').toEqual(whole);
  });

  it('calls bytes plain only when they are nothing but records with LF', () => {
    const rows = [
      { input: 'a,b\nc,d\n', plain: true },
      { input: 'a,b\nc,d', plain: false },
      { input: 'a,b\n\nc,d\n', plain: false },
      { input: 'a,b\r\n', plain: false },
      { input: '"a",b\n', plain: false },
    ];
    const plain = rows.map(({ input }) => splitterOf({})(Buffer.from(input), true).plain);
    expect(plain).toEqual(rows.map((row) => row.plain));
  });
});
