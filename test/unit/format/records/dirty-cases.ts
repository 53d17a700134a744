// Dirty files: bytes, dialect, and the rows and rejects that they give. Tested whole, cut at every
// byte (dirty-files.test.ts), and in every form from every source
// (test/unit/run/dirty-everywhere.test.ts).

import type { AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { rowsOf } from './reading.ts';
import { spectrumCases } from './spectrum-cases.ts';

export interface DirtyCase {
  readonly name: string;
  readonly input: string | Buffer;
  readonly options: CsvOptions;
  readonly columns: Readonly<Record<string, AnyColumn>>;
  readonly rows: readonly (readonly (string | null)[])[];
  /** `code@line:column`. */
  readonly rejects: readonly string[];
}

/** The first two fields as text columns. */
const dirtyColumns = { a: column.text(1).nullable(), b: column.text(2).nullable() };

/** A case: `expected` has its rows, with `|` between fields and `∅` for null, and then its rejects as `!code@line:column`. */
const dirty = (
  name: string,
  input: string | Buffer,
  expected: readonly (string | DirtyCase['rows'][number])[],
  { columns = dirtyColumns, ...options }: CsvOptions & { columns?: DirtyCase['columns'] } = {},
): DirtyCase => {
  const isReject = (one: unknown): one is string => typeof one === 'string' && one.startsWith('!');
  const rejects = expected.filter(isReject).map((one) => one.slice(1));
  return {
    name,
    input,
    options,
    columns,
    rows: rowsOf(expected.slice(0, -rejects.length || undefined)),
    rejects,
  };
};

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
const numbers = { a: column.integer(1), b: column.text(2).nullable() };

/** Byte order marks, lines around the records, and line ends. */
const framing: readonly DirtyCase[] = [
  dirty('a byte order mark', '\ufeffa,b\n1,2\n', ['1|2']),
  dirty('a byte order mark before a quote', '\ufeff"a",b\n"1",2\n', ['1|2']),
  dirty('no line end at the end', 'a,b\n1,2', ['1|2']),
  dirty('CRLF', 'a,b\r\n1,2\r\n', ['1|2']),
  dirty('CRLF, cut off within the last', 'a,b\r\n1,2\r', ['1|2']),
  dirty('CRLF and LF', 'a,b\r\n1,2\n3,4\r\n', ['1|2', '3|4']),
  dirty('CR twice before LF', 'a,b\r\r\n1,2\r\r\n', ['1|2']),
  dirty('CR', 'a,b\r1,2\r3,4', ['1|2', '3|4']),
  dirty('CR, with a CRLF among them', 'a,b\r1,2\r\n3,4\r', ['1|2', '3|4']),
  dirty('a stray CR', 'a,b\n1,x\ry\n3,4\n', ['3|4', '!line_end@2:']),
  dirty('a stray CR that is data', 'a,b\n1,x\ry\n3,4\n', ['1|x\ry', '3|4'], { lineEnd: 'lf' }),
  dirty('a stray LF that is data', 'a,b\r\n1,x\ny\r\n', ['1|x\ny'], { lineEnd: 'crlf' }),
  dirty('blank lines', '\n\na,b\n\n1,2\n\n\r\n3,4\n\n', ['1|2', '3|4']),
  dirty('lines of blanks, trimmed', 'a,b\n \t\n1,2\n  \n', ['1|2'], { trim: true }),
  dirty('lines before the header', 'Report "of\n\n2011\na,b\n1,2\n', ['1|2'], { skipLines: 3 }),
  dirty('comments', '# "x\na,b\n#1,2\n3,4 # no comment\n#\n', ['3|4 # no comment'], { comment: '#' }),
  dirty(
    'comments after data, whatever is in them, and within quotes none',
    'a,b#,"c\n1,2# "x\n"#",3 # ",\n"4"#,\n#\n,#\n5,"6\n#"#x\n"7"#x',
    ['1|2', '#|3 ', '4|∅', '∅|∅', '5|6\n#', '7|∅'],
    { comment: '#', comments: 'infix', ragged: 'pad' },
  ),
  dirty(
    'comments after data, trimmed, and those of lines that are blank without',
    'a,b // x\n1 , 2 // "x\n\t // y\n"3" , "4/" // z\n8,"9\n"// w\n/5,6/\n7,/',
    ['1|2', '3|4/', '8|9\n', '/5|6/', '7|/'],
    { comment: '//', comments: 'infix', trim: true },
  ),
  dirty(
    'comments after data, where a blank has to be before them',
    'a,b\n1#2,3 # x\n4,"5" # y\n6,7 #\n',
    ['1#2|3', '4|5', '6|7'],
    { comment: ' #', comments: 'infix' },
  ),
  dirty('a blank between a closing quote and a comment', 'a,b\n1,"2" # x\n3,4\n', ['3|4', '!quote@2:b'], {
    comment: '#',
    comments: 'infix',
  }),
  dirty(
    'comments after data with other line ends in them, and carriage returns before',
    'a,b # \r,"\n1,2# \r \r\n3,4\r# x\n',
    ['1|2', '3|4\r'],
    { comment: '#', comments: 'infix', lineEnd: 'lf' },
  ),
  dirty(
    'comments after data, with line ends found by the first line',
    'a,b # ,"\r1,2#\r\n3,4# x\r"5",6 # \ny\r',
    ['1|2', '3|4', '5|6'],
    { comment: '#', comments: 'infix', trim: true },
  ),
  dirty('comments after data, and CRLF', 'a,b\r\n1,2# x\n y\r\n3,4#\r\n5,6\r#\r\n', ['1|2', '3|4', '5|6\r'], {
    comment: '#',
    comments: 'infix',
    lineEnd: 'crlf',
  }),
  dirty('a comment that a backslash keeps from being one', 'a,b\n1\\#2,3#4\n', ['1#2|3'], {
    comment: '#',
    comments: 'infix',
    escapes: 'any',
  }),
  dirty('a header of two lines', 'Wind,,Sky\nspeed,gust,\n1,2,3\n', ['1|2|3'], {
    headerLines: 2,
    columns: { speed: column.integer('Wind speed'), gust: column.integer('gust'), sky: column.text('Sky') },
  }),
  dirty(
    'a header of two lines, one with a line end in a name and one shorter, after a comment',
    '#\n"A\nB",c\n\nx\n1,2\n3\n',
    ['1|2', '!field_count@7:'],
    { headerLines: 2, comment: '#', columns: { ab: column.text('A\nB x'), c: column.text('c') } },
  ),
  dirty('a trailer', 'a,b\n1,2\nTOTAL "1\n', ['1|2'], { skipEnd: 1 }),
  dirty('a trailer without a line end', 'a,b\n1,2\n3,4\nEND', ['1|2', '3|4'], { skipEnd: 1 }),
  dirty('a trailer of several lines, one of them blank, after no record', 'a,b\nx\n\nTOTAL,0,0\n', [], {
    skipEnd: 3,
  }),
  dirty('a trailer after CRLF', 'a,b\r\n1,2\r\nx\r\ny\r\n', ['1|2'], { skipEnd: 2 }),
  dirty('a trailer after CRLF, with an LF that is data', 'a,b\r\n1,x\ny\r\nz\nz\r\n', ['1|x\ny'], {
    skipEnd: 1,
    lineEnd: 'crlf',
  }),
  dirty('a trailer after CR and CRLF', 'a,b\r1,2\r\n3,4\r\nx\r\ny\r', ['1|2', '3|4'], { skipEnd: 2 }),
  dirty('a quote that the trailer would close', 'a,b\n1,"x\nEND"\n', ['!quote@2:b'], { skipEnd: 1 }),
];

/** Records with too few or too many fields. */
const ragged: readonly DirtyCase[] = [
  dirty('too few and too many fields', 'a,b\n1\n1,2,3\n4,5\n', ['4|5', '!field_count@2:', '!field_count@3:']),
  dirty('too few fields, padded', 'a,b\n1\n1,2,3\n,\n', ['1|∅', '∅|∅', '!field_count@3:'], { ragged: 'pad' }),
  dirty(
    'too many fields, cut',
    'a,b\n1,2,3,4\n5\n6,"7","8,9"\n,,\n',
    ['1|2', '6|7', '∅|∅', '!field_count@3:'],
    { ragged: 'cut' },
  ),
  dirty('delimiters at the end of records', 'a|b\n1|2|\n"3"|"4"|\r\n', ['1|2', '3|4'], {
    ragged: 'cut',
    delimiter: '|',
  }),
  dirty('delimiters at the end of records and of the header', 'a,b,\n1,2,\n', ['1|2']),
  dirty('long delimiters at the end', 'a||b\n1||2||\n3||4|||\n', ['1|2', '3|4'], {
    ragged: 'cut',
    delimiter: '||',
  }),
  dirty('one field, cut', 'a\n1,\n"2",3\n\n4\n', ['1', '2', '∅', '4'], {
    ragged: 'cut',
    columns: { a: column.text(1).nullable() },
  }),
  dirty('a wrong quote in what is cut', 'a,b\n1,2,3"4\n5,6,"7"8\n9,0,\n', ['9|0', '!quote@2:', '!quote@3:'], {
    ragged: 'cut',
  }),
  dirty('broken UTF-8 in what is cut', bytes('a,b\n1,2,', 0xff, '\n3,4,5\n'), ['3|4', '!invalid_utf8@2:'], {
    ragged: 'cut',
  }),
  dirty(
    'no header: as many fields as the first record',
    '1,2\n3\n4,5,6\n7,8\n',
    ['1|2', '7|8', '!field_count@2:', '!field_count@3:'],
    { header: false },
  ),
  dirty('no header, short records', '1\n2,3\n', ['1|∅', '2|3'], { header: false, ragged: 'pad' }),
  dirty('no header, delimiters at the end of some records', '1,2,\n3,4\n', ['1|2', '3|4'], {
    header: false,
    ragged: 'cut',
  }),
];

/** Quotes and escapes as in RFC 4180 and elsewhere. */
const quotes: readonly DirtyCase[] = [
  dirty('quoted delimiters and line ends', 'a,b\n"1,2","x\ny"\n', ['1,2|x\ny']),
  dirty('doubled quotes', 'a,b\n"""1""","2"""\n', ['"1"|2"']),
  dirty('quoted nothing', 'a,b\n"",""\n', ['∅|∅']),
  dirty(
    'quoted nothing and null tokens in quotes, which are texts',
    'a,b\n,""\n"NA",NA\n"", \n',
    ['∅|', 'NA|∅', '| '],
    { quotedNulls: false, nulls: ['', 'NA'] },
  ),
  dirty(
    'null tokens within and without quotes, trimmed',
    'a,b\n NA ," NA "\n , ""\n" ",x\n',
    ['∅|NA', '∅|', '|x'],
    { quotedNulls: false, nulls: ['', 'NA'], trim: true },
  ),
  dirty(
    'null tokens without quotes, trimmed outside of them',
    'a,b\n NA , "NA"\n" NA "," "\n',
    ['∅|NA', ' NA | '],
    { quotedNulls: false, nulls: ['', 'NA'], trim: 'outside' },
  ),
  dirty('a null token of a column, in quotes as well', 'a,b\n"",""\n"-",-\n1,"-"\n', ['∅|', '∅|-', '1|-'], {
    quotedNulls: false,
    columns: { a: column.integer('a').nulls(['', '-']).nullable(), b: column.text('b').default('none') },
  }),
  dirty(
    'null tokens of glued fields, one of them in quotes',
    'a,b\n"",x\n,x\n"",""\nx,-\nx,"-"\n',
    ['+x', '∅', '+', '∅', '∅'],
    {
      quotedNulls: false,
      columns: { a: column.text(['a', 'b'], { separator: '+' }).nulls(['-']).nullable() },
    },
  ),
  dirty('a quote that has no null token', 'a,b\n"",5" \n,"\n,""\n', ['∅|', '!quote@2:b', '!quote@3:b'], {
    quotedNulls: false,
  }),
  dirty('a stray quote', 'a,b\n5" pipe,2\n3,4\n', ['3|4', '!quote@2:a']),
  dirty('a stray quote, lenient', 'a,b\n5" pipe,2\n"a"b,"c"\n', ['5" pipe|2', 'ab|c'], { quotes: 'lenient' }),
  dirty('text after a closing quote', 'a,b\n"1"x,2\n3,4\n', ['3|4', '!quote@2:a']),
  dirty('a quote that is never closed', 'a,b\n1,"2\n3,4\n5,6\n', ['3|4', '5|6', '!quote@2:b']),
  dirty('a quote after a blank', 'a,b\n1, "2"\n3,4\n', ['3|4', '!quote@2:b']),
  dirty('blanks around quotes, trimmed', 'a,b\n "1" ,\t"2, 3"\n', ['1|2, 3'], { trim: true }),
  dirty('blanks within quotes, kept', 'a,b\n " 1" , 2 \n', [' 1|2'], { trim: 'outside' }),
  dirty('no quotes', 'a,b\n"1,2"\n', ['"1|2"'], { quote: null }),
  dirty('single quotes', "a,b\n'1,''2''','\"'\n", ["1,'2'|\""], { quote: "'" }),
  dirty(
    'quotes escaped by a backslash, other backslashes kept',
    'a,b\n"1\\"x","c:\\\\d\\e"\n',
    ['1"x|c:\\d\\e'],
    { escape: '\\' },
  ),
  dirty('semicolons', 'a;b\n1;"2;3"\n', ['1|2;3'], { delimiter: ';' }),
  dirty('tabs', 'a\tb\n1\t\n', ['1|∅'], { delimiter: '\t' }),
  dirty('a delimiter beyond ASCII', 'a§b\n1§"2§3"\n', ['1|2§3'], { delimiter: '§' }),
];

/** Backslash escapes, as PostgreSQL and MySQL write them. */
const escapes: readonly DirtyCase[] = [
  dirty(
    'COPY text: every escape, null and an empty text',
    'a\tb\n\\b\\f\\n\\r\\t\\v\\\\\t\\N\n\t\\x41\\102\\103d\\e\\xg\n',
    ['\b\f\n\r\t\v\\|∅', '|ABCdexg'],
    { escapes: 'postgres', delimiter: '\t' },
  ),
  dirty(
    'COPY text: a backslash before a delimiter, a line end and a backslash',
    'a|b\n1\\|2|x\\\ny\n3\\\\|4\\\\\n5|\\\n6|7\n',
    [['1|2', 'x\ny'], '3\\|4\\', '!field_count@5:'],
    { escapes: 'postgres', delimiter: '|' },
  ),
  dirty(
    'COPY text: quotes are data, and \\N is null only as a whole field',
    'a,b\n"1",\\\\N\nx\\N,\\N\n',
    ['"1"|\\N', 'xN|∅'],
    { escapes: 'postgres' },
  ),
  dirty(
    'COPY text: what looks like null at the end, at the beginning and before a delimiter',
    '\\N|x\\N\n\\N\\|1|\\N\n\\Nx|\\\\N\n\\N|\\N\n',
    ['∅|xN', ['N|1', null], 'Nx|\\N', '∅|∅'],
    { escapes: 'postgres', delimiter: '|', header: false },
  ),
  dirty('COPY text: null for a column that has none', '1\tx\n\\N\ty\n', ['1|x', '!not_null@2:a'], {
    escapes: 'postgres',
    delimiter: '\t',
    header: false,
    columns: numbers,
  }),
  dirty(
    'COPY text: bytes by their numbers that are no UTF-8, and a NUL',
    '\\303\\251\tx\n\\351\ty\nz\t\\0\n',
    ['é|x', '!invalid_utf8@2:a', '!nul_byte@3:b'],
    { escapes: 'postgres', delimiter: '\t', header: false },
  ),
  dirty('COPY text: the end of data of a dump, left out', '1\t2\n\\.\n', ['1|2'], {
    escapes: 'postgres',
    delimiter: '\t',
    header: false,
    skipEnd: 1,
  }),
  dirty('COPY text: the end of data of a dump, as a record', '1\t2\n\\.\n', ['1|2', '!field_count@2:'], {
    escapes: 'postgres',
    delimiter: '\t',
    header: false,
  }),
  dirty(
    'COPY text: CRLF, and a line end that is escaped',
    'a,b\r\n1,x\\\r\ny\r\n2,3\r\n',
    ['1|x\r\ny', '2|3'],
    { escapes: 'postgres' },
  ),
  dirty(
    'COPY text: escaped carriage returns before a line end and at the end of the file',
    '1,x\\\r\r\n2,y\\\\\r\n3,z\\\r',
    ['1|x\r', '2|y\\', '3|z\r'],
    { escapes: 'postgres', header: false },
  ),
  dirty('COPY text: a backslash at the end of the file', 'a,b\n1,2\\', ['1|2'], { escapes: 'postgres' }),
  dirty(
    'COPY text: an escaped line end in the header, and too many fields',
    'a,x\\\ny\n1,2,3\\,\n4,5\\,6\n',
    ['1|2', '4|5,6'],
    { escapes: 'postgres', ragged: 'cut' },
  ),
  dirty(
    'MySQL: escapes, null, and line ends after a backslash',
    '\\N\t\\Z\\b\\x\n1\\\n2\ta\\\tb\n',
    ['∅|\x1a\bx', '1\n2|a\tb'],
    { escapes: 'mysql', delimiter: '\t', header: false },
  ),
  dirty(
    'MySQL: in quotes, with quotes escaped and doubled',
    '"1\\"2","a""b"\n"x\\\ny","z,\n\\n"\n\\N,"c\\\\"\n',
    ['1"2|a"b', 'x\ny|z,\n\n', '∅|c\\'],
    { escapes: 'mysql', quote: '"', header: false },
  ),
  dirty(
    'MySQL: a quote that is never closed after an escaped one',
    '0,0\n1,"2\\"\n3,4\n"5\\",6\n7,8\n',
    ['0|0', '3|4', '7|8', '!quote@2:b', '!quote@4:a'],
    { escapes: 'mysql', quote: '"', header: false },
  ),
  dirty(
    'MySQL: a quote after an escaped delimiter is no beginning',
    '0,0\na\\,"b,1\n2,3\n',
    ['0|0', '2|3', '!quote@2:a'],
    { escapes: 'mysql', quote: '"', header: false },
  ),
  dirty(
    'a backslash before any character: itself, without a quote and within',
    'a,b\n1\\,2,\\"x\\"\n"\\"3\\n""\\\\",\\x41\n\\\n4,5\\\n',
    ['1,2|"x"', '"3n"\\|x41', '\n4|5\n'],
    { escapes: 'any', ragged: 'cut' },
  ),
  dirty(
    'a backslash before any character, and null',
    'a,b\n\\N,"\\N"\n,""\n\\NA,N\n\\\\N,\\\\\n',
    ['∅|∅', '∅|', 'NA|N', '\\N|\\'],
    { escapes: 'any', quotedNulls: false },
  ),
  dirty(
    'a backslash that keeps a quote from closing, or beginning, its field',
    'a,b\n\\"5",6\n7,"8"\\\n9,"2\\"\n3,4\n',
    ['3|4', '!quote@2:a', '!quote@3:b', '!quote@4:b'],
    { escapes: 'any' },
  ),
  dirty('MySQL: a NUL', '1,a\\0b\n2,c\n', ['2|c', '!nul_byte@1:b'], { escapes: 'mysql', header: false }),
];

/** Bytes and values. */
const values: readonly DirtyCase[] = [
  dirty('broken UTF-8', bytes('a,b\n1,x', 0xc3, '\n3,4\n'), ['3|4', '!invalid_utf8@2:b']),
  dirty('latin-1', bytes('a,b\n1,M', 0xfc, 'ller\n3,4\n'), ['3|4', '!invalid_utf8@2:b']),
  dirty('a NUL byte', 'a,b\n1,x\0\n3,4\n', ['3|4', '!nul_byte@2:b']),
  dirty('characters beyond the BMP', 'a,b\n𝄞,👩‍👩‍👧\n', ['𝄞|👩‍👩‍👧']),
  dirty('a no-break space is data', 'a,b\n\u00a0,2\n', ['\u00a0|2'], { trim: true }),
  dirty('a control-Z at the end', 'a,b\n1,2\n\x1a', ['1|2', '!field_count@3:']),
  dirty('a control-Z at the end, left out', 'a,b\n1,2\n\x1a', ['1|2'], { skipEnd: 1 }),
  dirty('a header that is repeated', 'a,b\n1,2\na,b\n3,4\n', ['1|2', '3|4', '!type@3:a'], {
    columns: numbers,
  }),
  dirty('null tokens, quoted or not', 'a,b\nNA,"NA"\n,""\n', ['∅|∅', '∅|∅'], { nulls: ['', 'NA'] }),
  dirty('a missing value', 'a,b\n,2\n3,4\n', ['3|4', '!not_null@2:a'], { columns: numbers }),
  dirty('two faults in a record of two lines', 'a,b,c\nx,"1\n2",y\n3,4,5\n', ['3|5', '!type@2:a'], {
    columns: { a: column.integer('a'), c: column.integer('c') },
  }),
  dirty('names twice, by number', 'n,n\n1,2\n', ['1|2'], {
    columns: { one: column.text('n#1'), two: column.text('n#2') },
  }),
  dirty('names in other cases', 'START time,Größe\n1,2\n', ['1|2'], {
    match: 'relaxed',
    columns: { start: column.text('start_time'), size: column.text('GROSSE') },
  }),
];

/** Cases where the JSON of csv-spectrum has other values than its file. */
const coordinates = 'a,b\n2095257564,37\ufffd36\'37.8"N 121\ufffd2\'17.9"W';

export const dirtyCases: readonly DirtyCase[] = [
  dirty('coordinates, whose seconds are quotes', coordinates, ['!quote@2:b']),
  dirty('coordinates, lenient', coordinates, ['2095257564|37\ufffd36\'37.8"N 121\ufffd2\'17.9"W'], {
    quotes: 'lenient',
  }),
  ...framing,
  ...ragged,
  ...quotes,
  ...escapes,
  ...values,
  ...spectrumCases,
];
