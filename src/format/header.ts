// Reads the header of a file: byte order mark, skipped lines, names; and finds the declared columns in it.

import { isUtf8 } from 'node:buffer';
import type { ColumnSpec, Dialect, FilterSpec } from '../declaration.ts';
import { EtlError, messageOf } from '../errors.ts';
import { headerBytesMax } from '../limits.ts';
import { nearest } from '../nearest.ts';
import { inQuotes, onOneLine, plural } from '../wording.ts';
import { rejectCodes } from '../model.ts';
import { otherContent } from './content.ts';
import { countNewlines, createSplitter, lineEnd } from './splitter.ts';
import { parse } from './csv-parse.ts';
import { csvBytes, csvOptions } from './csv-options.ts';

export interface FileHeader {
  /** Field names in file order, without blanks around them. */
  readonly names: readonly string[];
  /** First byte and line of the data. */
  readonly dataByte: number;
  readonly dataLine: number;
}

/** Where an error in a header is reported. */
export interface HeaderPlace {
  readonly table: string;
  readonly file: string;
}

type Invalid = (problem: string, hint?: string) => EtlError;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const skipMark = (head: Buffer): number =>
  head.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;

/** Offset after the lines that are not CSV. */
const skipLines = (head: Buffer, from: number, lines: number): number => {
  let at = from;
  for (let line = 0; line < lines; line += 1) {
    at = lineEnd(head, at, true)!.next;
  }
  return at;
};

/**
 * Reads the header from the first bytes of a file (`head`; `isWhole`: they are the whole file).
 *
 * With names given by the dialect, the file has none and data begins at once.
 * Errors: ETL_SOURCE_FORMAT, ETL_SOURCE_EMPTY, ETL_HEADER_INVALID.
 */
export const readHeader = (
  head: Buffer,
  isWhole: boolean,
  dialect: Dialect,
  place: HeaderPlace,
): FileHeader => {
  const other = otherContent(head);
  if (other !== undefined)
    throw new EtlError('ETL_SOURCE_FORMAT', { ...place, problem: other.problem, hint: other.hint });
  const start = skipLines(head, skipMark(head), dialect.skipLines);
  const firstLine = dialect.skipLines + 1;
  const invalid: Invalid = (problem, hint = 'Check delimiter, quote and skipLines of the source.') =>
    new EtlError('ETL_HEADER_INVALID', { ...place, line: firstLine, problem, hint });
  if (start === head.length && !isWhole)
    throw invalid(`its ${dialect.skipLines} skipped lines are longer than ${headerBytesMax} bytes`);
  if (dialect.header !== true) return { names: dialect.header, dataByte: start, dataLine: firstLine };
  const rest = head.subarray(start);
  const spans = createSplitter(dialect, 2)(rest, isWhole);
  const [from, to] = [spans.starts[0], spans.ends[0]];
  if (from === undefined || to === undefined) {
    if (isWhole) throw new EtlError('ETL_SOURCE_EMPTY', { ...place });
    throw invalid(`no line ends within its first ${headerBytesMax} bytes`);
  }
  if (spans.faults.has(0)) throw invalid(rejectCodes.quote);
  const names = parseNames(rest.subarray(from, to), dialect, invalid);
  // A blank line after the header is data: in a file of one field it is a record.
  const after = lineEnd(rest, to, true)!.next;
  return { names, dataByte: start + after, dataLine: firstLine + countNewlines(rest, 0, after) };
};

const parseNames = (line: Buffer, dialect: Dialect, invalid: Invalid): string[] => {
  if (line.includes(0))
    throw invalid(
      'it has a NUL byte: the file is binary, or in UTF-16',
      'If it is text, convert it first: iconv -f utf-16le -t utf-8.',
    );
  if (!isUtf8(line))
    throw invalid('it is not UTF-8 text', 'Convert the file first, such as with iconv -f latin1 -t utf-8.');
  try {
    const [names = []] = parse(csvBytes(line, dialect), csvOptions(dialect, true));
    return names.map((name) => name.trim());
  } catch (cause) {
    throw invalid(messageOf(cause));
  }
};

const headersOf = (filter: FilterSpec): readonly string[] =>
  filter.kind === 'when' ? filter.headers : [filter.header];

/** Headers that a table's columns and filters need, each once. */
export const neededHeaders = (
  columns: readonly ColumnSpec[],
  filters: readonly FilterSpec[],
): readonly string[] => [
  ...new Set([...columns.flatMap(({ headers }) => headers), ...filters.flatMap(headersOf)]),
];

/** A text of one character as a pipeline file would write it. */
const inCode = (character: string): string => (character === '\t' ? String.raw`'\t'` : `'${character}'`);

/** What a header has instead of what is missing. A single field that holds another delimiter is all of them. */
const foundHint = (names: readonly string[], missing: string, skip: number): string => {
  const shown = `${names.slice(0, 8).map(onOneLine).join(', ')}${names.length > 8 ? ', …' : ''}`;
  const found = `It has ${plural(names.length, 'field')}: ${shown}.`;
  const excel = /^sep=(.?)$/i.exec(names[0]!);
  if (excel !== null) {
    const between = excel[1] === '' ? '' : `, delimiter: ${inCode(excel[1]!)}`;
    return `${found} That line is Excel's, and the header follows it: csv(…, { skipLines: ${skip}${between} }).`;
  }
  const delimiter = names.length === 1 ? /[;|\t,]/.exec(names[0]!)?.[0] : undefined;
  if (delimiter !== undefined) return `${found} Probably csv(…, { delimiter: ${inCode(delimiter)} }).`;
  const near = nearest(missing, names);
  return near === undefined ? found : `Did you mean ${inQuotes(near)}? ${found}`;
};

/**
 * Checks that every needed header is in the file, once. `skip` is the number of lines up to the header's end.
 *
 * Errors: ETL_HEADER_MISSING (all that are missing, with the nearest name found), ETL_HEADER_DUPLICATE.
 */
export const checkHeader = (
  names: readonly string[],
  needed: readonly string[],
  place: HeaderPlace & { readonly line: number; readonly skip: number },
): void => {
  const missing = needed.filter((header) => !names.includes(header));
  if (missing.length > 0) {
    const headers = missing.map(inQuotes).join(', ');
    throw new EtlError('ETL_HEADER_MISSING', {
      ...place,
      headers,
      hint: foundHint(names, missing[0]!, place.skip),
    });
  }
  for (const header of needed) {
    const first = names.indexOf(header);
    const second = names.indexOf(header, first + 1);
    if (second === -1) continue;
    const details = { ...place, header: inQuotes(header), first: first + 1, second: second + 1 };
    throw new EtlError('ETL_HEADER_DUPLICATE', details);
  }
};
