// The splitter: where records begin and end, with bytes in one piece and cut at every position.

import { describe, expect, it } from 'vitest';
import type { LineEnd } from '../../../../src/core/declaration.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { cutAt, splitPieces, splitterOf } from './reading.ts';

/** `found`: the line end that was found in the file. Default: LF. `fields`: default 2. */
type More = CsvOptions & { readonly found?: LineEnd; readonly fields?: number };

/**
 * A name, and a file with marks: `2«a,b»!quote` is the record `a,b`, which begins on line 2 and has a
 * fault. The line after the last byte follows the arrow.
 */
type Marked = readonly [name: string, marked: string, more?: More];

const records: readonly Marked[] = [
  ['LF ends a record', '1«a,b»\n2«c,d»\n→3'],
  ['CRLF ends a record', '1«a,b»\r\n2«c,d»\r\n→3'],
  ['CR ends a record of a file with CR', '1«a,b»\r2«c,d»\r→3', { found: 'cr' }],
  ['LF and CRLF may be mixed', '1«a,b»\r\n2«c,d»\n3«e,f»\r\n4«g,h»→4'],
  ['CR and CRLF may be mixed in a file with CR', '1«a,b»\r\n2«c,d»\r3«e,f»\r\n\r5«g,h»→5', { found: 'cr' }],
  ['line ends that were translated twice', '1«a,b»\r\r\n2«"c\r\nd",e»\r\r\r\n\r\r\n5«f,g»\r\r\n→6'],
  ['a CR in a file with LF is no line end', '1«a,b»\n2«c\rd,e»!line_end\n3«\rf,g»!line_end\n4«h,i»\n→5'],
  ['an LF in a file with CR is no line end', '1«a,b»\r2«c\nd,e»!line_end\r3«f,g»\r→4', { found: 'cr' }],
  ['a CR is data where LF is said to end lines', '1«a,b»\n2«c\rd,e»\r\n3«f\r,g»\n→4', { lineEnd: 'lf' }],
  [
    'LF and CR are data where CRLF is said to end lines',
    '1«a,b\nc»\r\n3«\r»\r\n4«\n»\r\n\r\n7«d,"e\n\r\n"»\r\n→10',
    { lineEnd: 'crlf' },
  ],
  ['an LF is data where CR is said to end lines', '1«a,b»\r2«c\nd,e»\r\n3«f,g»→3', { lineEnd: 'cr' }],
  ['the last newline may be missing', '1«a,b»\n2«c,d»→2'],
  ['a CR that ends the file is half a line end', '1«a,b»\n2«c,d»\r→2'],
  [
    'a CR that ends the file is data where lf is said to end lines',
    '1«a,b»\n2«c,d\r\r»→2',
    { lineEnd: 'lf' },
  ],
  ['and so it is on a line of its own: lf', '1«a,b»\n2«\r»→2', { lineEnd: 'lf' }],
  ['and so it is after a closing quote: lf', '1«a,b»\n2«c,"d"\r»!quote→2', { lineEnd: 'lf' }],
  [
    'a CR that ends the file is data where crlf is said to end lines',
    '1«a,b»\r\n2«c,d\r\r»→2',
    { lineEnd: 'crlf' },
  ],
  ['and so it is on a line of its own: crlf', '1«a,b»\r\n2«\r»→2', { lineEnd: 'crlf' }],
  ['and so it is after a closing quote: crlf', '1«a,b»\r\n2«c,"d"\r»!quote→2', { lineEnd: 'crlf' }],
  ['no bytes hold no record', '→1'],
  ['blank lines are no records of several fields', '\n2«a,b»\n\n\r\n5«c,d»\n\n→7'],
  ['blank lines are records of one field', '1«»\n2«a»\n3«»\r\n4«b»\n5«»\n→6', { fields: 1 }],
  ['the end of the file is no record of one field', '1«a»\n→2', { fields: 1 }],
  ['a line of blanks is a record', '1«a,b»\n2«  »\n3«c,d»\n→4'],
  ['a line of blanks is a blank line with trim', ' \n2«c,d»\r\n \t\r\n4«\te,f»\n  →5', { trim: true }],
  [
    'a line of blanks is a record of one field, also with trim',
    '1« »\n2«c»\n→3',
    { trim: 'outside', fields: 1 },
  ],
  [
    'a line of blanks that are delimiters is a record',
    '1«\t»\n \n3«\t »\n→4',
    { trim: true, delimiter: '\t' },
  ],
  ['comment lines are no records', '#a\n2«b,c»\r\n#d\r\n#e→4', { comment: '#' }],
  ['a comment in a record is data', '1«a,#b»\n→2', { comment: '#' }],
  ['a comment after blanks is data', '1« #a,b»\n→2', { comment: '#', trim: true }],
  ['a comment may hold an open quote', '#it is "\n2«a,b»\n→3', { comment: '#' }],
  ['a comment mark may have several characters', '-- a\n2«-b,c»\n→3', { comment: '--' }],
  ['a quoted comment mark is data', '1«"#a",b»\n→2', { comment: '#' }],
  ['a quoted newline does not end the record', '1«"a\nb",c»\n3«d,e»\n→4'],
  [
    'quoted line ends count as lines where they are of the kind that the file has',
    '1«"a\r\nb\rc",d»\n3«e,f»\n→4',
  ],
  [
    'a quoted CR before the closing quote counts in a file with CR',
    '1«"a\r"»\r\n3«b,c»\r→4',
    { found: 'cr' },
  ],
  ['a line of a quoted field may look like a comment', '1«"a\n#b",c»\n→3', { comment: '#' }],
  ['a doubled quote does not close', '1«"a""\nb",c»\n3«d,e»\n→4'],
  ['quotes only', '1«"""",""»\n2«"",""""""»\n→3'],
  ['a quote that ends the file closes', '1«a,"b"»→1'],
  ['an escape protects a quote', '1«"a\\"\nb",c»\n3«d,e»\n→4', { escape: '\\' }],
  ['an escape protects an escape', '1«"a\\\\",b»\n2«c,d»\n→3', { escape: '\\' }],
  ['an escape before another character is data', '1«"a\\b",c»\n2«d,e»\n→3', { escape: '\\' }],
  ['an escape outside quotes is data', '1«a\\,"b"»\n2«c\\»\n→3', { escape: '\\' }],
  [
    'with another escape, a doubled quote does not escape',
    '1«"a""»!quote\n2«b",c»!quote\n→3',
    { escape: '\\' },
  ],
  ['quotes are data when there is no quote', '1«"a»\n2«b",c»\n→3', { quote: null }],
  ['another quote', "1«'a\n\"',b»\n→3", { quote: "'" }],
  ['a delimiter of several characters', '1«"a||\n"||b»\n3«|"c||d»!quote\n→4', { delimiter: '||' }],
  ['a quote after half a delimiter is data', '1«a|"b»!quote\n2«c||"d\n"»\n→4', { delimiter: '||' }],
  ['a delimiter beyond ASCII', '1«é§"a\n§"»\n3«ü§b»\n→4', { delimiter: '§' }],
  ['a delimiter that begins like its neighbour', '1«Â©§"x\ny"»\n→3', { delimiter: '§' }],
  ['characters of two to four bytes', '1«é,€»\n2«"𝄞\n",ü»\n→4'],
  ['a byte order mark is not its business', '1«\ufeffa,b»\n→2'],
  ['a trailing delimiter is not its business', '1«a,b,»\n2«"c",d,»\n→3'],
  ['a NUL is a byte like others', '1«a\0,b»\n→2'],
];

/** Misplaced quotes and quotes that are never closed, and the records that they reject. */
const faults: readonly Marked[] = [
  ['a stray quote costs its record', '1«a"b,c»!quote\n2«d,e»\n→3'],
  ['two stray quotes cost a record each', '1«a"b,c»!quote\n2«d"e,f»!quote\n3«g,h»\n→4'],
  ['a pair of stray quotes costs its record', '1«5" pipe,6" pipe»!quote\n2«c,d»\n→3'],
  ['text after a closing quote costs its record', '1«"a"b,c»!quote\n2«d,e»\n→3'],
  ['a blank after a closing quote costs its record', '1«"a" ,c»!quote\n2«d,e»\n→3'],
  ['a quote after a blank is stray', '1« "a»!quote\n2«b",c»!quote\n→3'],
  ['with trim, a quote may follow blanks', '1« \t"a\nb"\t ,c»\n3«d,e»\n→4', { trim: true }],
  ['with trim, text after a quote and blanks is a fault', '1«"a" b,c»!quote\n→2', { trim: true }],
  ['with trim, a quote after text is stray', '1«a "b",c»!quote\n→2', { trim: true }],
  ['a quote that is never closed costs its line', '1«a,b»\n2«"c,d»!quote\n3«e,f»\n4«g,h»→4'],
  ['a quote that is never closed in the last line', '1«a,b»\n2«c,"»!quote→2'],
  ['an escape at the end closes nothing', '1«"a\\"»!quote→1', { escape: '\\' }],
  [
    'text after a closing quote on a later line costs the line on which the record begins',
    '1«a,b»\n2«1,"c d»!quote\n3«2,e»\n4«3,f»\n5«4,"g"»\n6«5,h»\n→7',
  ],
  [
    'and so it does after a good quoted field of several lines',
    '1«"a»!quote\n2«b","c»!quote\n3«d"e»!quote\n4«f,g»\n→5',
  ],
  [
    'a stray quote before a good quoted field of several lines costs the record',
    '1«a"b,"c\nd",e»!quote\n3«f,g»\n→4',
  ],
  [
    'lines that each begin where a quote would be closed, and go on as another',
    '1«a,"b»!quote\n2«c","d»!quote\n3«e","f»!quote\n4«g"h»!quote\n5«i,j»\n→6',
  ],
  [
    'half a delimiter after a closing quote is no fault yet',
    '1«"a"||b»\n2«"c"|d»!quote\n3«e||f»\n→4',
    { delimiter: '||' },
  ],
  [
    'leniently, quotes within an unquoted field are data',
    '1«a"b,c»!null\n2«5" pipe,6"»!null\n3«d,e»\n→4',
    { quotes: 'lenient' },
  ],
  [
    'leniently, text after a closing quote is data',
    '1«"a"b,c»!null\n2«"d\ne" "f,g»!null\n4«h,i»\n→5',
    { quotes: 'lenient' },
  ],
  [
    'leniently, a quote that is never closed costs its line',
    '1«a,"b»!quote\n2«c,d»\n→3',
    { quotes: 'lenient' },
  ],
  [
    'leniently, a line end of another kind is a fault',
    '1«a"b\rc,d»!line_end\n2«e,f»\n→3',
    { quotes: 'lenient' },
  ],
];

/** Takes the marks off: the bytes, and the records as `text@byte:line!fault`. */
const unmark = (marked: string) => {
  const [text, endLine] = marked.split('→') as [string, string];
  const shown: string[] = [];
  let input = '';
  let at = 0;
  for (const { index, 0: whole, groups } of text.matchAll(
    /(?<line>\d)«(?<record>[^»]*)»(?<fault>!(?:quote|line_end|null))?/g,
  )) {
    const { line, record, fault = '' } = groups as { line: string; record: string; fault?: string };
    input += text.slice(at, index);
    shown.push(`${record}@${Buffer.byteLength(input)}:${line}${fault}`);
    input += record;
    at = index + whole.length;
  }
  return { bytes: Buffer.from(input + text.slice(at)), shown, endLine: Number(endLine) };
};

const cases = [...records, ...faults].map(([name, marked, { found, fields = 2, ...options } = {}]) => ({
  name,
  ...unmark(marked),
  split: (pieces: readonly Buffer[]) => splitPieces(pieces, splitterOf(options, fields, found)),
}));

describe('splitter', () => {
  it.each(cases)('$name', async ({ bytes, shown, endLine, split }) => {
    const { records: found, end } = await split([bytes]);
    const seen = found.map(
      ({ text, byte, line, fault }) => `${text}@${byte}:${line}${fault === undefined ? '' : `!${fault}`}`,
    );
    expect(seen).toEqual(shown);
    expect(found.map(({ record }) => record)).toEqual(found.map((_, index) => index + 1));
    expect(end).toEqual({ byte: bytes.length, line: endLine, record: shown.length + 1 });
  });

  it.each(cases)('cut at every byte: $name', async ({ bytes, split }) => {
    const whole = await split([bytes]);
    for (let place = 0; place <= bytes.length; place += 1)
      expect(await split(cutAt(bytes, place)), `cut at ${place}`).toEqual(whole);
    const single = cutAt(bytes, ...Array.from(bytes, (_, place) => place));
    expect(await split(single), 'byte by byte').toEqual(whole);
  });

  it.each([
    ['a,b\nc,d\n', true],
    ['a,b\nc,d', false],
    ['a,b\n\nc,d\n', false],
    ['a,b\r\n', false],
    ['"a",b\n"c\nd","e""f"\n', true],
    ['"a"b,c\n', false],
  ])('bytes are plain only when they are nothing but records with LF: %j, %s', (input, plain) =>
    expect(splitterOf({}).split(Buffer.from(input), true).plain).toBe(plain),
  );
});
