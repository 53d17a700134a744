// Inputs of the splitter, and the records that it must find.

import type { LineEnd } from '../../../../src/core/declaration/declaration.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';

export interface SplitCase {
  readonly name: string;
  readonly input: string;
  /** `text@byte:line`, then `!fault`. Records are numbered by their index in the list. */
  readonly records: readonly string[];
  /** Line after the last byte. */
  readonly endLine: number;
  readonly options?: CsvOptions;
  /** The line end that was found in the file. Default: LF. */
  readonly lineEnd?: LineEnd;
  readonly fields?: number;
}

export const splitCases: readonly SplitCase[] = [
  { name: 'LF ends a record', input: 'a,b\nc,d\n', records: ['a,b@0:1', 'c,d@4:2'], endLine: 3 },
  { name: 'CRLF ends a record', input: 'a,b\r\nc,d\r\n', records: ['a,b@0:1', 'c,d@5:2'], endLine: 3 },
  {
    name: 'CR ends a record of a file with CR',
    input: 'a,b\rc,d\r',
    lineEnd: 'cr',
    records: ['a,b@0:1', 'c,d@4:2'],
    endLine: 3,
  },
  {
    name: 'LF and CRLF may be mixed',
    input: 'a,b\r\nc,d\ne,f\r\ng,h',
    records: ['a,b@0:1', 'c,d@5:2', 'e,f@9:3', 'g,h@14:4'],
    endLine: 4,
  },
  {
    name: 'CR and CRLF may be mixed in a file with CR',
    input: 'a,b\r\nc,d\re,f\r\n\rg,h',
    lineEnd: 'cr',
    records: ['a,b@0:1', 'c,d@5:2', 'e,f@9:3', 'g,h@15:5'],
    endLine: 5,
  },
  {
    name: 'line ends that were translated twice',
    input: 'a,b\r\r\n"c\r\nd",e\r\r\r\n\r\r\nf,g\r\r\n',
    records: ['a,b@0:1', '"c\r\nd",e@6:2', 'f,g@21:5'],
    endLine: 6,
  },
  {
    name: 'a CR in a file with LF is no line end',
    input: 'a,b\nc\rd,e\n\rf,g\nh,i\n',
    records: ['a,b@0:1', 'c\rd,e@4:2!line_end', '\rf,g@10:3!line_end', 'h,i@15:4'],
    endLine: 5,
  },
  {
    name: 'an LF in a file with CR is no line end',
    input: 'a,b\rc\nd,e\rf,g\r',
    lineEnd: 'cr',
    records: ['a,b@0:1', 'c\nd,e@4:2!line_end', 'f,g@10:3'],
    endLine: 4,
  },
  {
    name: 'a CR is data where LF is said to end lines',
    input: 'a,b\nc\rd,e\r\nf\r,g\n',
    options: { lineEnd: 'lf' },
    records: ['a,b@0:1', 'c\rd,e@4:2', 'f\r,g@11:3'],
    endLine: 4,
  },
  {
    name: 'LF and CR are data where CRLF is said to end lines',
    input: 'a,b\nc\r\n\r\r\n\n\r\n\r\nd,"e\n\r\n"\r\n',
    options: { lineEnd: 'crlf' },
    records: ['a,b\nc@0:1', '\r@7:3', '\n@10:4', 'd,"e\n\r\n"@15:7'],
    endLine: 10,
  },
  {
    name: 'an LF is data where CR is said to end lines',
    input: 'a,b\rc\nd,e\r\nf,g',
    options: { lineEnd: 'cr' },
    records: ['a,b@0:1', 'c\nd,e@4:2', 'f,g@11:3'],
    endLine: 3,
  },
  { name: 'the last newline may be missing', input: 'a,b\nc,d', records: ['a,b@0:1', 'c,d@4:2'], endLine: 2 },
  {
    name: 'a CR that ends the file is half a line end',
    input: 'a,b\nc,d\r',
    records: ['a,b@0:1', 'c,d@4:2'],
    endLine: 2,
  },
  ...(['lf', 'crlf'] as const).flatMap((lineEnd): SplitCase[] => {
    const options = { lineEnd };
    const newline = lineEnd === 'lf' ? '\n' : '\r\n';
    const at = 3 + newline.length;
    return [
      {
        name: `a CR that ends the file is data where ${lineEnd} is said to end lines`,
        input: `a,b${newline}c,d\r\r`,
        options,
        records: ['a,b@0:1', `c,d\r\r@${at}:2`],
        endLine: 2,
      },
      {
        name: `and so it is on a line of its own: ${lineEnd}`,
        input: `a,b${newline}\r`,
        options,
        records: ['a,b@0:1', `\r@${at}:2`],
        endLine: 2,
      },
      {
        name: `and so it is after a closing quote: ${lineEnd}`,
        input: `a,b${newline}c,"d"\r`,
        options,
        records: ['a,b@0:1', `c,"d"\r@${at}:2!quote`],
        endLine: 2,
      },
    ];
  }),
  { name: 'no bytes hold no record', input: '', records: [], endLine: 1 },
  {
    name: 'blank lines are no records of several fields',
    input: '\na,b\n\n\r\nc,d\n\n',
    records: ['a,b@1:2', 'c,d@8:5'],
    endLine: 7,
  },
  {
    name: 'blank lines are records of one field',
    input: '\na\n\r\nb\n\n',
    fields: 1,
    records: ['@0:1', 'a@1:2', '@3:3', 'b@5:4', '@7:5'],
    endLine: 6,
  },
  {
    name: 'the end of the file is no record of one field',
    input: 'a\n',
    fields: 1,
    records: ['a@0:1'],
    endLine: 2,
  },
  {
    name: 'a line of blanks is a record',
    input: 'a,b\n  \nc,d\n',
    records: ['a,b@0:1', '  @4:2', 'c,d@7:3'],
    endLine: 4,
  },
  {
    name: 'a line of blanks is a blank line with trim',
    input: ' \nc,d\r\n \t\r\n\te,f\n  ',
    options: { trim: true },
    records: ['c,d@2:2', '\te,f@11:4'],
    endLine: 5,
  },
  {
    name: 'a line of blanks is a record of one field, also with trim',
    input: ' \nc\n',
    options: { trim: 'outside' },
    fields: 1,
    records: [' @0:1', 'c@2:2'],
    endLine: 3,
  },
  {
    name: 'a line of blanks that are delimiters is a record',
    input: '\t\n \n\t \n',
    options: { trim: true, delimiter: '\t' },
    records: ['\t@0:1', '\t @4:3'],
    endLine: 4,
  },
  {
    name: 'comment lines are no records',
    input: '#a\nb,c\r\n#d\r\n#e',
    options: { comment: '#' },
    records: ['b,c@3:2'],
    endLine: 4,
  },
  {
    name: 'a comment in a record is data',
    input: 'a,#b\n',
    options: { comment: '#' },
    records: ['a,#b@0:1'],
    endLine: 2,
  },
  {
    name: 'a comment after blanks is data',
    input: ' #a,b\n',
    options: { comment: '#', trim: true },
    records: [' #a,b@0:1'],
    endLine: 2,
  },
  {
    name: 'a comment may hold an open quote',
    input: '#it is "\na,b\n',
    options: { comment: '#' },
    records: ['a,b@9:2'],
    endLine: 3,
  },
  {
    name: 'a comment mark may have several characters',
    input: '-- a\n-b,c\n',
    options: { comment: '--' },
    records: ['-b,c@5:2'],
    endLine: 3,
  },
  {
    name: 'a quoted comment mark is data',
    input: '"#a",b\n',
    options: { comment: '#' },
    records: ['"#a",b@0:1'],
    endLine: 2,
  },
  {
    name: 'a quoted newline does not end the record',
    input: '"a\nb",c\nd,e\n',
    records: ['"a\nb",c@0:1', 'd,e@8:3'],
    endLine: 4,
  },
  {
    name: 'quoted line ends count as lines where they are of the kind that the file has',
    input: '"a\r\nb\rc",d\ne,f\n',
    records: ['"a\r\nb\rc",d@0:1', 'e,f@11:3'],
    endLine: 4,
  },
  {
    name: 'a quoted CR before the closing quote counts in a file with CR',
    input: '"a\r"\r\nb,c\r',
    lineEnd: 'cr',
    records: ['"a\r"@0:1', 'b,c@6:3'],
    endLine: 4,
  },
  {
    name: 'a line of a quoted field may look like a comment',
    input: '"a\n#b",c\n',
    options: { comment: '#' },
    records: ['"a\n#b",c@0:1'],
    endLine: 3,
  },
  {
    name: 'a doubled quote does not close',
    input: '"a""\nb",c\nd,e\n',
    records: ['"a""\nb",c@0:1', 'd,e@10:3'],
    endLine: 4,
  },
  {
    name: 'quotes only',
    input: '"""",""\n"",""""""\n',
    records: ['"""",""@0:1', '"",""""""@8:2'],
    endLine: 3,
  },
  { name: 'a quote that ends the file closes', input: 'a,"b"', records: ['a,"b"@0:1'], endLine: 1 },
  {
    name: 'an escape protects a quote',
    input: '"a\\"\nb",c\nd,e\n',
    options: { escape: '\\' },
    records: ['"a\\"\nb",c@0:1', 'd,e@10:3'],
    endLine: 4,
  },
  {
    name: 'an escape protects an escape',
    input: '"a\\\\",b\nc,d\n',
    options: { escape: '\\' },
    records: ['"a\\\\",b@0:1', 'c,d@8:2'],
    endLine: 3,
  },
  {
    name: 'an escape before another character is data',
    input: '"a\\b",c\nd,e\n',
    options: { escape: '\\' },
    records: ['"a\\b",c@0:1', 'd,e@8:2'],
    endLine: 3,
  },
  {
    name: 'an escape outside quotes is data',
    input: 'a\\,"b"\nc\\\n',
    options: { escape: '\\' },
    records: ['a\\,"b"@0:1', 'c\\@7:2'],
    endLine: 3,
  },
  {
    name: 'with another escape, a doubled quote does not escape',
    input: '"a""\nb",c\n',
    options: { escape: '\\' },
    records: ['"a""@0:1!quote', 'b",c@5:2!quote'],
    endLine: 3,
  },
  {
    name: 'quotes are data when there is no quote',
    input: '"a\nb",c\n',
    options: { quote: null },
    records: ['"a@0:1', 'b",c@3:2'],
    endLine: 3,
  },
  {
    name: 'another quote',
    input: "'a\n\"',b\n",
    options: { quote: "'" },
    records: ["'a\n\"',b@0:1"],
    endLine: 3,
  },
  {
    name: 'a delimiter of several characters',
    input: '"a||\n"||b\n|"c||d\n',
    options: { delimiter: '||' },
    records: ['"a||\n"||b@0:1', '|"c||d@10:3!quote'],
    endLine: 4,
  },
  {
    name: 'a quote after half a delimiter is data',
    input: 'a|"b\nc||"d\n"\n',
    options: { delimiter: '||' },
    records: ['a|"b@0:1!quote', 'c||"d\n"@5:2'],
    endLine: 4,
  },
  {
    name: 'a delimiter beyond ASCII',
    input: 'é§"a\n§"\nü§b\n',
    options: { delimiter: '§' },
    records: ['é§"a\n§"@0:1', 'ü§b@11:3'],
    endLine: 4,
  },
  {
    name: 'a delimiter that begins like its neighbour',
    input: 'Â©§"x\ny"\n',
    options: { delimiter: '§' },
    records: ['Â©§"x\ny"@0:1'],
    endLine: 3,
  },
  {
    name: 'characters of two to four bytes',
    input: 'é,€\n"𝄞\n",ü\n',
    records: ['é,€@0:1', '"𝄞\n",ü@7:2'],
    endLine: 4,
  },
  {
    name: 'a byte order mark is not its business',
    input: '\ufeffa,b\n',
    records: ['\ufeffa,b@0:1'],
    endLine: 2,
  },
  {
    name: 'a trailing delimiter is not its business',
    input: 'a,b,\n"c",d,\n',
    records: ['a,b,@0:1', '"c",d,@5:2'],
    endLine: 3,
  },
  { name: 'a NUL is a byte like others', input: 'a\0,b\n', records: ['a\0,b@0:1'], endLine: 2 },
];
