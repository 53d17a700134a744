// Dirty files: bytes, dialect, and the rows and rejects that they give. Tested whole, cut at every
// byte (dirty-files.test.ts), and in every form from every source
// (test/unit/run/dirty-everywhere.test.ts).

import type { AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { spectrumCases } from './spectrum-cases.ts';

export interface DirtyCase {
  readonly name: string;
  readonly input: string | Buffer;
  readonly options?: CsvOptions;
  /** Default: `dirtyColumns`. */
  readonly columns?: Readonly<Record<string, AnyColumn>>;
  readonly rows: readonly (readonly (string | null)[])[];
  /** `code@line:column`. */
  readonly rejects?: readonly string[];
}

/** The first two fields as text columns. */
export const dirtyColumns = { a: column.text(1).nullable(), b: column.text(2).nullable() };

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
const numbers = { a: column.integer(1), b: column.text(2).nullable() };

/** Byte order marks, lines around the records, and line ends. */
const framing: readonly DirtyCase[] = [
  { name: 'a byte order mark', input: '\ufeffa,b\n1,2\n', rows: [['1', '2']] },
  { name: 'a byte order mark before a quote', input: '\ufeff"a",b\n"1",2\n', rows: [['1', '2']] },
  { name: 'no line end at the end', input: 'a,b\n1,2', rows: [['1', '2']] },
  { name: 'CRLF', input: 'a,b\r\n1,2\r\n', rows: [['1', '2']] },
  { name: 'CRLF, cut off within the last', input: 'a,b\r\n1,2\r', rows: [['1', '2']] },
  {
    name: 'CRLF and LF',
    input: 'a,b\r\n1,2\n3,4\r\n',
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  { name: 'CR twice before LF', input: 'a,b\r\r\n1,2\r\r\n', rows: [['1', '2']] },
  {
    name: 'CR',
    input: 'a,b\r1,2\r3,4',
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'CR, with a CRLF among them',
    input: 'a,b\r1,2\r\n3,4\r',
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  { name: 'a stray CR', input: 'a,b\n1,x\ry\n3,4\n', rows: [['3', '4']], rejects: ['line_end@2:'] },
  {
    name: 'a stray CR that is data',
    input: 'a,b\n1,x\ry\n3,4\n',
    options: { lineEnd: 'lf' },
    rows: [
      ['1', 'x\ry'],
      ['3', '4'],
    ],
  },
  {
    name: 'a stray LF that is data',
    input: 'a,b\r\n1,x\ny\r\n',
    options: { lineEnd: 'crlf' },
    rows: [['1', 'x\ny']],
  },
  {
    name: 'blank lines',
    input: '\n\na,b\n\n1,2\n\n\r\n3,4\n\n',
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'lines of blanks, trimmed',
    input: 'a,b\n \t\n1,2\n  \n',
    options: { trim: true },
    rows: [['1', '2']],
  },
  {
    name: 'lines before the header',
    input: 'Report "of\n\n2011\na,b\n1,2\n',
    options: { skipLines: 3 },
    rows: [['1', '2']],
  },
  {
    name: 'comments',
    input: '# "x\na,b\n#1,2\n3,4 # no comment\n#\n',
    options: { comment: '#' },
    rows: [['3', '4 # no comment']],
  },
  {
    name: 'comments after data, whatever is in them, and within quotes none',
    input: 'a,b#,"c\n1,2# "x\n"#",3 # ",\n"4"#,\n#\n,#\n5,"6\n#"#x\n"7"#x',
    options: { comment: '#', comments: 'infix', ragged: 'pad' },
    rows: [
      ['1', '2'],
      ['#', '3 '],
      ['4', null],
      [null, null],
      ['5', '6\n#'],
      ['7', null],
    ],
  },
  {
    name: 'comments after data, trimmed, and those of lines that are blank without',
    input: 'a,b // x\n1 , 2 // "x\n\t // y\n"3" , "4/" // z\n8,"9\n"// w\n/5,6/\n7,/',
    options: { comment: '//', comments: 'infix', trim: true },
    rows: [
      ['1', '2'],
      ['3', '4/'],
      ['8', '9\n'],
      ['/5', '6/'],
      ['7', '/'],
    ],
  },
  {
    name: 'comments after data, where a blank has to be before them',
    input: 'a,b\n1#2,3 # x\n4,"5" # y\n6,7 #\n',
    options: { comment: ' #', comments: 'infix' },
    rows: [
      ['1#2', '3'],
      ['4', '5'],
      ['6', '7'],
    ],
  },
  {
    name: 'a blank between a closing quote and a comment',
    input: 'a,b\n1,"2" # x\n3,4\n',
    options: { comment: '#', comments: 'infix' },
    rows: [['3', '4']],
    rejects: ['quote@2:b'],
  },
  {
    name: 'comments after data with other line ends in them, and carriage returns before',
    input: 'a,b # \r,"\n1,2# \r \r\n3,4\r# x\n',
    options: { comment: '#', comments: 'infix', lineEnd: 'lf' },
    rows: [
      ['1', '2'],
      ['3', '4\r'],
    ],
  },
  {
    name: 'comments after data, with line ends found by the first line',
    input: 'a,b # ,"\r1,2#\r\n3,4# x\r"5",6 # \ny\r',
    options: { comment: '#', comments: 'infix', trim: true },
    rows: [
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ],
  },
  {
    name: 'comments after data, and CRLF',
    input: 'a,b\r\n1,2# x\n y\r\n3,4#\r\n5,6\r#\r\n',
    options: { comment: '#', comments: 'infix', lineEnd: 'crlf' },
    rows: [
      ['1', '2'],
      ['3', '4'],
      ['5', '6\r'],
    ],
  },
  {
    name: 'a comment that a backslash keeps from being one',
    input: 'a,b\n1\\#2,3#4\n',
    options: { comment: '#', comments: 'infix', escapes: 'any' },
    rows: [['1#2', '3']],
  },
  {
    name: 'a header of two lines',
    input: 'Wind,,Sky\nspeed,gust,\n1,2,3\n',
    options: { headerLines: 2 },
    columns: { speed: column.integer('Wind speed'), gust: column.integer('gust'), sky: column.text('Sky') },
    rows: [['1', '2', '3']],
  },
  {
    name: 'a header of two lines, one with a line end in a name and one shorter, after a comment',
    input: '#\n"A\nB",c\n\nx\n1,2\n3\n',
    options: { headerLines: 2, comment: '#' },
    columns: { ab: column.text('A\nB x'), c: column.text('c') },
    rows: [['1', '2']],
    rejects: ['field_count@7:'],
  },
  {
    name: 'a trailer',
    input: 'a,b\n1,2\nTOTAL "1\n',
    options: { skipEnd: 1 },
    rows: [['1', '2']],
  },
  {
    name: 'a trailer without a line end',
    input: 'a,b\n1,2\n3,4\nEND',
    options: { skipEnd: 1 },
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'a trailer of several lines, one of them blank, after no record',
    input: 'a,b\nx\n\nTOTAL,0,0\n',
    options: { skipEnd: 3 },
    rows: [],
  },
  {
    name: 'a trailer after CRLF',
    input: 'a,b\r\n1,2\r\nx\r\ny\r\n',
    options: { skipEnd: 2 },
    rows: [['1', '2']],
  },
  {
    name: 'a trailer after CRLF, with an LF that is data',
    input: 'a,b\r\n1,x\ny\r\nz\nz\r\n',
    options: { skipEnd: 1, lineEnd: 'crlf' },
    rows: [['1', 'x\ny']],
  },
  {
    name: 'a trailer after CR and CRLF',
    input: 'a,b\r1,2\r\n3,4\r\nx\r\ny\r',
    options: { skipEnd: 2 },
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'a quote that the trailer would close',
    input: 'a,b\n1,"x\nEND"\n',
    options: { skipEnd: 1 },
    rows: [],
    rejects: ['quote@2:b'],
  },
];

/** Records with too few or too many fields. */
const ragged: readonly DirtyCase[] = [
  {
    name: 'too few and too many fields',
    input: 'a,b\n1\n1,2,3\n4,5\n',
    rows: [['4', '5']],
    rejects: ['field_count@2:', 'field_count@3:'],
  },
  {
    name: 'too few fields, padded',
    input: 'a,b\n1\n1,2,3\n,\n',
    options: { ragged: 'pad' },
    rows: [
      ['1', null],
      [null, null],
    ],
    rejects: ['field_count@3:'],
  },
  {
    name: 'too many fields, cut',
    input: 'a,b\n1,2,3,4\n5\n6,"7","8,9"\n,,\n',
    options: { ragged: 'cut' },
    rows: [
      ['1', '2'],
      ['6', '7'],
      [null, null],
    ],
    rejects: ['field_count@3:'],
  },
  {
    name: 'delimiters at the end of records',
    input: 'a|b\n1|2|\n"3"|"4"|\r\n',
    options: { ragged: 'cut', delimiter: '|' },
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'delimiters at the end of records and of the header',
    input: 'a,b,\n1,2,\n',
    rows: [['1', '2']],
  },
  {
    name: 'long delimiters at the end',
    input: 'a||b\n1||2||\n3||4|||\n',
    options: { ragged: 'cut', delimiter: '||' },
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
  {
    name: 'one field, cut',
    input: 'a\n1,\n"2",3\n\n4\n',
    options: { ragged: 'cut' },
    columns: { a: column.text(1).nullable() },
    rows: [['1'], ['2'], [null], ['4']],
  },
  {
    name: 'a wrong quote in what is cut',
    input: 'a,b\n1,2,3"4\n5,6,"7"8\n9,0,\n',
    options: { ragged: 'cut' },
    rows: [['9', '0']],
    rejects: ['quote@2:', 'quote@3:'],
  },
  {
    name: 'broken UTF-8 in what is cut',
    input: bytes('a,b\n1,2,', 0xff, '\n3,4,5\n'),
    options: { ragged: 'cut' },
    rows: [['3', '4']],
    rejects: ['invalid_utf8@2:'],
  },
  {
    name: 'no header: as many fields as the first record',
    input: '1,2\n3\n4,5,6\n7,8\n',
    options: { header: false },
    rows: [
      ['1', '2'],
      ['7', '8'],
    ],
    rejects: ['field_count@2:', 'field_count@3:'],
  },
  {
    name: 'no header, short records',
    input: '1\n2,3\n',
    options: { header: false, ragged: 'pad' },
    rows: [
      ['1', null],
      ['2', '3'],
    ],
  },
  {
    name: 'no header, delimiters at the end of some records',
    input: '1,2,\n3,4\n',
    options: { header: false, ragged: 'cut' },
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  },
];

/** Quotes and escapes as in RFC 4180 and elsewhere. */
const quotes: readonly DirtyCase[] = [
  { name: 'quoted delimiters and line ends', input: 'a,b\n"1,2","x\ny"\n', rows: [['1,2', 'x\ny']] },
  { name: 'doubled quotes', input: 'a,b\n"""1""","2"""\n', rows: [['"1"', '2"']] },
  { name: 'quoted nothing', input: 'a,b\n"",""\n', rows: [[null, null]] },
  {
    name: 'quoted nothing and null tokens in quotes, which are texts',
    input: 'a,b\n,""\n"NA",NA\n"", \n',
    options: { quotedNulls: false, nulls: ['', 'NA'] },
    rows: [
      [null, ''],
      ['NA', null],
      ['', ' '],
    ],
  },
  {
    name: 'null tokens within and without quotes, trimmed',
    input: 'a,b\n NA ," NA "\n , ""\n" ",x\n',
    options: { quotedNulls: false, nulls: ['', 'NA'], trim: true },
    rows: [
      [null, 'NA'],
      [null, ''],
      ['', 'x'],
    ],
  },
  {
    name: 'null tokens without quotes, trimmed outside of them',
    input: 'a,b\n NA , "NA"\n" NA "," "\n',
    options: { quotedNulls: false, nulls: ['', 'NA'], trim: 'outside' },
    rows: [
      [null, 'NA'],
      [' NA ', ' '],
    ],
  },
  {
    name: 'a null token of a column, in quotes as well',
    input: 'a,b\n"",""\n"-",-\n1,"-"\n',
    options: { quotedNulls: false },
    columns: { a: column.integer('a').nulls(['', '-']).nullable(), b: column.text('b').default('none') },
    rows: [
      [null, ''],
      [null, '-'],
      ['1', '-'],
    ],
  },
  {
    name: 'null tokens of glued fields, one of them in quotes',
    input: 'a,b\n"",x\n,x\n"",""\nx,-\nx,"-"\n',
    options: { quotedNulls: false },
    columns: { a: column.text(['a', 'b'], { separator: '+' }).nulls(['-']).nullable() },
    rows: [['+x'], [null], ['+'], [null], [null]],
  },
  {
    name: 'a quote that has no null token',
    input: 'a,b\n"",5" \n,"\n,""\n',
    options: { quotedNulls: false },
    rows: [[null, '']],
    rejects: ['quote@2:b', 'quote@3:b'],
  },
  {
    name: 'a stray quote',
    input: 'a,b\n5" pipe,2\n3,4\n',
    rows: [['3', '4']],
    rejects: ['quote@2:a'],
  },
  {
    name: 'a stray quote, lenient',
    input: 'a,b\n5" pipe,2\n"a"b,"c"\n',
    options: { quotes: 'lenient' },
    rows: [
      ['5" pipe', '2'],
      ['ab', 'c'],
    ],
  },
  {
    name: 'text after a closing quote',
    input: 'a,b\n"1"x,2\n3,4\n',
    rows: [['3', '4']],
    rejects: ['quote@2:a'],
  },
  {
    name: 'a quote that is never closed',
    input: 'a,b\n1,"2\n3,4\n5,6\n',
    rows: [
      ['3', '4'],
      ['5', '6'],
    ],
    rejects: ['quote@2:b'],
  },
  {
    name: 'a quote after a blank',
    input: 'a,b\n1, "2"\n3,4\n',
    rows: [['3', '4']],
    rejects: ['quote@2:b'],
  },
  {
    name: 'blanks around quotes, trimmed',
    input: 'a,b\n "1" ,\t"2, 3"\n',
    options: { trim: true },
    rows: [['1', '2, 3']],
  },
  {
    name: 'blanks within quotes, kept',
    input: 'a,b\n " 1" , 2 \n',
    options: { trim: 'outside' },
    rows: [[' 1', '2']],
  },
  { name: 'no quotes', input: 'a,b\n"1,2"\n', options: { quote: null }, rows: [['"1', '2"']] },
  {
    name: 'single quotes',
    input: "a,b\n'1,''2''','\"'\n",
    options: { quote: "'" },
    rows: [["1,'2'", '"']],
  },
  {
    name: 'quotes escaped by a backslash, other backslashes kept',
    input: 'a,b\n"1\\"x","c:\\\\d\\e"\n',
    options: { escape: '\\' },
    rows: [['1"x', 'c:\\d\\e']],
  },
  { name: 'semicolons', input: 'a;b\n1;"2;3"\n', options: { delimiter: ';' }, rows: [['1', '2;3']] },
  { name: 'tabs', input: 'a\tb\n1\t\n', options: { delimiter: '\t' }, rows: [['1', null]] },
  {
    name: 'a delimiter beyond ASCII',
    input: 'a§b\n1§"2§3"\n',
    options: { delimiter: '§' },
    rows: [['1', '2§3']],
  },
];

/** Backslash escapes, as PostgreSQL and MySQL write them. */
const escapes: readonly DirtyCase[] = [
  {
    name: 'COPY text: every escape, null and an empty text',
    input: 'a\tb\n\\b\\f\\n\\r\\t\\v\\\\\t\\N\n\t\\x41\\102\\103d\\e\\xg\n',
    options: { escapes: 'postgres', delimiter: '\t' },
    rows: [
      ['\b\f\n\r\t\v\\', null],
      ['', 'ABCdexg'],
    ],
  },
  {
    name: 'COPY text: a backslash before a delimiter, a line end and a backslash',
    input: 'a|b\n1\\|2|x\\\ny\n3\\\\|4\\\\\n5|\\\n6|7\n',
    options: { escapes: 'postgres', delimiter: '|' },
    rows: [
      ['1|2', 'x\ny'],
      ['3\\', '4\\'],
    ],
    rejects: ['field_count@5:'],
  },
  {
    name: 'COPY text: quotes are data, and \\N is null only as a whole field',
    input: 'a,b\n"1",\\\\N\nx\\N,\\N\n',
    options: { escapes: 'postgres' },
    rows: [
      ['"1"', '\\N'],
      ['xN', null],
    ],
  },
  {
    name: 'COPY text: what looks like null at the end, at the beginning and before a delimiter',
    input: '\\N|x\\N\n\\N\\|1|\\N\n\\Nx|\\\\N\n\\N|\\N\n',
    options: { escapes: 'postgres', delimiter: '|', header: false },
    rows: [
      [null, 'xN'],
      ['N|1', null],
      ['Nx', '\\N'],
      [null, null],
    ],
  },
  {
    name: 'COPY text: null for a column that has none',
    input: '1\tx\n\\N\ty\n',
    options: { escapes: 'postgres', delimiter: '\t', header: false },
    columns: numbers,
    rows: [['1', 'x']],
    rejects: ['not_null@2:a'],
  },
  {
    name: 'COPY text: bytes by their numbers that are no UTF-8, and a NUL',
    input: '\\303\\251\tx\n\\351\ty\nz\t\\0\n',
    options: { escapes: 'postgres', delimiter: '\t', header: false },
    rows: [['é', 'x']],
    rejects: ['invalid_utf8@2:a', 'nul_byte@3:b'],
  },
  {
    name: 'COPY text: the end of data of a dump, left out',
    input: '1\t2\n\\.\n',
    options: { escapes: 'postgres', delimiter: '\t', header: false, skipEnd: 1 },
    rows: [['1', '2']],
  },
  {
    name: 'COPY text: the end of data of a dump, as a record',
    input: '1\t2\n\\.\n',
    options: { escapes: 'postgres', delimiter: '\t', header: false },
    rows: [['1', '2']],
    rejects: ['field_count@2:'],
  },
  {
    name: 'COPY text: CRLF, and a line end that is escaped',
    input: 'a,b\r\n1,x\\\r\ny\r\n2,3\r\n',
    options: { escapes: 'postgres' },
    rows: [
      ['1', 'x\r\ny'],
      ['2', '3'],
    ],
  },
  {
    name: 'COPY text: escaped carriage returns before a line end and at the end of the file',
    input: '1,x\\\r\r\n2,y\\\\\r\n3,z\\\r',
    options: { escapes: 'postgres', header: false },
    rows: [
      ['1', 'x\r'],
      ['2', 'y\\'],
      ['3', 'z\r'],
    ],
  },
  {
    name: 'COPY text: a backslash at the end of the file',
    input: 'a,b\n1,2\\',
    options: { escapes: 'postgres' },
    rows: [['1', '2']],
  },
  {
    name: 'COPY text: an escaped line end in the header, and too many fields',
    input: 'a,x\\\ny\n1,2,3\\,\n4,5\\,6\n',
    options: { escapes: 'postgres', ragged: 'cut' },
    rows: [
      ['1', '2'],
      ['4', '5,6'],
    ],
  },
  {
    name: 'MySQL: escapes, null, and line ends after a backslash',
    input: '\\N\t\\Z\\b\\x\n1\\\n2\ta\\\tb\n',
    options: { escapes: 'mysql', delimiter: '\t', header: false },
    rows: [
      [null, '\x1a\bx'],
      ['1\n2', 'a\tb'],
    ],
  },
  {
    name: 'MySQL: in quotes, with quotes escaped and doubled',
    input: '"1\\"2","a""b"\n"x\\\ny","z,\n\\n"\n\\N,"c\\\\"\n',
    options: { escapes: 'mysql', quote: '"', header: false },
    rows: [
      ['1"2', 'a"b'],
      ['x\ny', 'z,\n\n'],
      [null, 'c\\'],
    ],
  },
  {
    name: 'MySQL: a quote that is never closed after an escaped one',
    input: '0,0\n1,"2\\"\n3,4\n"5\\",6\n7,8\n',
    options: { escapes: 'mysql', quote: '"', header: false },
    rows: [
      ['0', '0'],
      ['3', '4'],
      ['7', '8'],
    ],
    rejects: ['quote@2:b', 'quote@4:a'],
  },
  {
    name: 'MySQL: a quote after an escaped delimiter is no beginning',
    input: '0,0\na\\,"b,1\n2,3\n',
    options: { escapes: 'mysql', quote: '"', header: false },
    rows: [
      ['0', '0'],
      ['2', '3'],
    ],
    rejects: ['quote@2:a'],
  },
  {
    name: 'a backslash before any character: itself, without a quote and within',
    input: 'a,b\n1\\,2,\\"x\\"\n"\\"3\\n""\\\\",\\x41\n\\\n4,5\\\n',
    options: { escapes: 'any', ragged: 'cut' },
    rows: [
      ['1,2', '"x"'],
      ['"3n"\\', 'x41'],
      ['\n4', '5\n'],
    ],
  },
  {
    name: 'a backslash before any character, and null',
    input: 'a,b\n\\N,"\\N"\n,""\n\\NA,N\n\\\\N,\\\\\n',
    options: { escapes: 'any', quotedNulls: false },
    rows: [
      [null, null],
      [null, ''],
      ['NA', 'N'],
      ['\\N', '\\'],
    ],
  },
  {
    name: 'a backslash that keeps a quote from closing, or beginning, its field',
    input: 'a,b\n\\"5",6\n7,"8"\\\n9,"2\\"\n3,4\n',
    options: { escapes: 'any' },
    rows: [['3', '4']],
    rejects: ['quote@2:a', 'quote@3:b', 'quote@4:b'],
  },
  {
    name: 'MySQL: a NUL',
    input: '1,a\\0b\n2,c\n',
    options: { escapes: 'mysql', header: false },
    rows: [['2', 'c']],
    rejects: ['nul_byte@1:b'],
  },
];

/** Bytes and values. */
const values: readonly DirtyCase[] = [
  {
    name: 'broken UTF-8',
    input: bytes('a,b\n1,x', 0xc3, '\n3,4\n'),
    rows: [['3', '4']],
    rejects: ['invalid_utf8@2:b'],
  },
  {
    name: 'latin-1',
    input: bytes('a,b\n1,M', 0xfc, 'ller\n3,4\n'),
    rows: [['3', '4']],
    rejects: ['invalid_utf8@2:b'],
  },
  { name: 'a NUL byte', input: 'a,b\n1,x\0\n3,4\n', rows: [['3', '4']], rejects: ['nul_byte@2:b'] },
  { name: 'characters beyond the BMP', input: 'a,b\n𝄞,👩‍👩‍👧\n', rows: [['𝄞', '👩‍👩‍👧']] },
  {
    name: 'a no-break space is data',
    input: 'a,b\n\u00a0,2\n',
    options: { trim: true },
    rows: [['\u00a0', '2']],
  },
  {
    name: 'a control-Z at the end',
    input: 'a,b\n1,2\n\x1a',
    rows: [['1', '2']],
    rejects: ['field_count@3:'],
  },
  {
    name: 'a control-Z at the end, left out',
    input: 'a,b\n1,2\n\x1a',
    options: { skipEnd: 1 },
    rows: [['1', '2']],
  },
  {
    name: 'a header that is repeated',
    input: 'a,b\n1,2\na,b\n3,4\n',
    columns: numbers,
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
    rejects: ['type@3:a'],
  },
  {
    name: 'null tokens, quoted or not',
    input: 'a,b\nNA,"NA"\n,""\n',
    options: { nulls: ['', 'NA'] },
    rows: [
      [null, null],
      [null, null],
    ],
  },
  {
    name: 'a missing value',
    input: 'a,b\n,2\n3,4\n',
    columns: numbers,
    rows: [['3', '4']],
    rejects: ['not_null@2:a'],
  },
  {
    name: 'two faults in a record of two lines',
    input: 'a,b,c\nx,"1\n2",y\n3,4,5\n',
    columns: { a: column.integer('a'), c: column.integer('c') },
    rows: [['3', '5']],
    rejects: ['type@2:a'],
  },
  {
    name: 'names twice, by number',
    input: 'n,n\n1,2\n',
    columns: { one: column.text('n#1'), two: column.text('n#2') },
    rows: [['1', '2']],
  },
  {
    name: 'names in other cases',
    input: 'START time,Größe\n1,2\n',
    options: { match: 'relaxed' },
    columns: { start: column.text('start_time'), size: column.text('GROSSE') },
    rows: [['1', '2']],
  },
];

/** Cases where the JSON of csv-spectrum has other values than its file. */
const coordinates = 'a,b\n2095257564,37\ufffd36\'37.8"N 121\ufffd2\'17.9"W';

export const dirtyCases: readonly DirtyCase[] = [
  { name: 'coordinates, whose seconds are quotes', input: coordinates, rows: [], rejects: ['quote@2:b'] },
  {
    name: 'coordinates, lenient',
    input: coordinates,
    options: { quotes: 'lenient' },
    rows: [['2095257564', '37\ufffd36\'37.8"N 121\ufffd2\'17.9"W']],
  },
  ...framing,
  ...ragged,
  ...quotes,
  ...escapes,
  ...values,
  ...spectrumCases,
];
