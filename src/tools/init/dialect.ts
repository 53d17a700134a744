// Guesses the dialect of a file from its first bytes: delimiter, quote, lines before the header.

import type { Dialect, LineEnd } from '../../core/declaration.ts';
import { recordFields, writtenDialect } from '../../format/records/record-fields.ts';
import { isQuoteFault } from '../../format/records/raw-fields.ts';
import { createSplitter } from '../../format/records/splitter.ts';
import { findLineEnd, grammarOf } from '../../format/records/grammar.ts';
import { hasHeader } from './header.ts';

export const plainDialect: Dialect = { ...writtenDialect, lineEnd: 'auto' };

interface HeadRecord {
  readonly line: number;
  readonly fields: readonly string[] | undefined;
}

const recordsMax = 500;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const headRecords = (head: Buffer, isWhole: boolean, dialect: Dialect): readonly HeadRecord[] => {
  const bytes = head.subarray(0, 3).equals(byteOrderMark) ? head.subarray(3) : head;
  const lineEnd: LineEnd = findLineEnd(bytes, isWhole, grammarOf(dialect, 2, 'lf'), false) ?? 'lf';
  const { starts, ends, lines, faults } = createSplitter(dialect, 2, lineEnd).split(bytes, isWhole);
  return Array.from(starts.subarray(0, recordsMax), (start, index) => {
    const fields = recordFields(bytes.subarray(start, ends[index]), dialect);
    const isFine = !faults.has(index) && !isQuoteFault(fields);
    return { line: lines[index]!, fields: isFine ? fields : undefined };
  });
};

const delimiters = [',', ';', '\t', '|'] as const;

interface Candidate {
  readonly dialect: Dialect;
  readonly records: readonly HeadRecord[];
  readonly fields: number;
  readonly share: number;
}

const usualWidth = (records: readonly HeadRecord[]): readonly [fields: number, count: number] => {
  const widths = new Map<number, number>();
  for (const { fields } of records)
    if (fields !== undefined) widths.set(fields.length, (widths.get(fields.length) ?? 0) + 1);
  return [...widths].toSorted((one, other) => other[1] - one[1] || other[0] - one[0])[0] ?? [0, 0];
};

const candidateOf = (head: Buffer, isWhole: boolean, dialect: Dialect): Candidate => {
  const records = headRecords(head, isWhole, dialect);
  const [fields, count] = usualWidth(records);
  return { dialect, records, fields, share: records.length === 0 ? 0 : count / records.length };
};

const shareStep = 0.05;

const isBetter = (one: Candidate, other: Candidate): boolean => {
  if (one.fields > 1 !== other.fields > 1) return one.fields > 1;
  if (Math.abs(one.share - other.share) > shareStep) return one.share > other.share;
  return one.fields > other.fields;
};

export interface HeadGuess {
  readonly dialect: Dialect;
  readonly records: readonly (readonly string[])[];
  readonly fields: number;
  readonly remarks: readonly string[];
}

const preambleMax = 30;

/** Returns the number of records before the header; 0 if later records are irregular, too. */
const preambleOf = ({ records, fields }: Candidate): number => {
  const first = records.findIndex((record) => record.fields?.length === fields);
  if (first <= 0 || fields < 2 || records[first]!.line > preambleMax) return 0;
  const rest = records.slice(first);
  const usual = rest.filter((record) => record.fields?.length === fields).length;
  return usual >= 2 && usual / rest.length > 1 - shareStep ? first : 0;
};

const linesBefore = (head: Buffer, lines: number): readonly string[] =>
  head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/, lines);

const commentSign = '#';
const commentRemark = `lines that begin with ${commentSign} are comments`;

const hasComments = (head: Buffer): boolean => /(?:^|[\r\n])#/.test(head.toString('latin1'));

/**
 * True if the file begins with comments. If lines with # have as many fields as the records, they
 * are probably the header.
 */
const beginsWithComments = ({ records, fields }: Candidate): boolean => {
  const signed = records.findIndex((record) => record.fields?.[0]?.startsWith(commentSign) !== true);
  const first = records.slice(0, Math.max(0, signed));
  return first.length > 0 && first.every((record) => record.fields?.length !== fields);
};

const ofDelimiter = (head: Buffer, isWhole: boolean, delimiter: string): Candidate => {
  const dialect = { ...plainDialect, delimiter };
  const quoted = candidateOf(head, isWhole, dialect);
  if (quoted.share === 1) return quoted;
  const commented = candidateOf(head, isWhole, { ...dialect, comment: commentSign });
  if (
    beginsWithComments({ ...quoted, fields: commented.fields }) &&
    commented.fields > 1 &&
    isRagged(commented)
  )
    return commented;
  return [
    ...(hasComments(head) ? [{ ...dialect, comment: commentSign }] : []),
    { ...dialect, trim: true },
    { ...dialect, quote: null, escape: null },
    { ...dialect, quotes: 'lenient' as const },
  ]
    .map((other) => candidateOf(head, isWhole, other))
    .reduce((best, other) => (other.share > best.share + shareStep ? other : best), quoted);
};

const raggedWidth = ({ records }: Candidate): number | undefined => {
  const widths = records.map(({ fields }) => fields?.length ?? 0);
  const most = Math.max(0, ...widths);
  const full = widths.filter((width) => width === most).length;
  const short = widths.filter((width) => width === most - 1).length;
  return most > 2 && full > 1 && short > 1 && full + short === widths.length ? most : undefined;
};

const isRagged = (candidate: Candidate): boolean => raggedWidth(candidate) !== undefined;

/** Returns a guess for a file without header, in which some records lack the last field. */
const unevenRecords = (candidate: Candidate): HeadGuess | undefined => {
  const { dialect, records } = candidate;
  const fields = raggedWidth(candidate);
  if (fields === undefined) return undefined;
  const known = records.map((record) => record.fields!);
  if (hasHeader(known.filter(({ length }) => length === known[0]!.length))) return undefined;
  const padded = known.map((record) => (record.length < fields ? [...record, ''] : record));
  const header = Array.from({ length: fields }, (_, index) => `field_${index + 1}`);
  return { dialect: { ...dialect, header, ragged: 'pad' }, records: padded, fields, remarks: [] };
};

const shortened = ({ dialect, records, fields }: Candidate): HeadGuess | undefined => {
  const known = records.flatMap((record) => (record.fields === undefined ? [] : [record.fields]));
  const most = known[0]?.length ?? 0;
  if (fields < 2 || most <= fields || known.some((record) => record.length > most)) return undefined;
  const padded = known.map((record) => [
    ...record,
    ...Array.from({ length: most - record.length }, () => ''),
  ]);
  return hasHeader(padded)
    ? { dialect: { ...dialect, ragged: 'pad' }, records: padded, fields: most, remarks: [] }
    : undefined;
};

const guessOf = (head: Buffer, isWhole: boolean, possible: readonly string[]): HeadGuess => {
  const [first, ...others] = possible.map((delimiter) => ofDelimiter(head, isWhole, delimiter));
  const best = others.reduce((found, other) => (isBetter(other, found) ? other : found), first!);
  const usual = (records: readonly HeadRecord[]) =>
    records.flatMap(({ fields }) => (fields?.length === best.fields ? [fields] : []));
  const always = best.dialect.comment === null ? [] : [commentRemark];
  const short = shortened(best) ?? unevenRecords(best);
  if (short !== undefined) return { ...short, remarks: always };
  const preamble = preambleOf(best);
  if (preamble === 0)
    return { dialect: best.dialect, records: usual(best.records), fields: best.fields, remarks: always };
  const { line } = best.records[preamble]!;
  const lines = linesBefore(head, line);
  const isComment = lines.every((text) => text.trim() === '' || text.startsWith(commentSign));
  const isOnlyBefore = usual(best.records).every(([field = '']) => !field.startsWith(commentSign));
  const own = isComment && isOnlyBefore ? { comment: commentSign } : { skipLines: line };
  const remark =
    'comment' in own
      ? commentRemark
      : `the first ${line === 1 ? 'line comes' : `${line} lines come`} before the header`;
  return {
    dialect: { ...best.dialect, ...own },
    records: usual(best.records.slice(preamble)),
    fields: best.fields,
    remarks: [...new Set([...always, remark])],
  };
};

/** A first line such as `sep=;`, which tells Excel the delimiter. */
const excelLine = /^(?:\xef\xbb\xbf)?sep=([^\r\n"])(?:\r\n|\n|\r)/i;

export const guessDialect = (head: Buffer, isWhole: boolean): HeadGuess => {
  const [line, delimiter] = excelLine.exec(head.toString('latin1', 0, 16)) ?? [];
  if (line === undefined || delimiter === undefined) return guessOf(head, isWhole, delimiters);
  const { dialect, remarks, ...guess } = guessOf(head.subarray(line.length), isWhole, [delimiter]);
  return {
    ...guess,
    dialect: { ...dialect, skipLines: dialect.skipLines + 1 },
    remarks: [...remarks, 'the first line tells Excel the delimiter'],
  };
};

/** Returns other dialects to try if records have faults with these codes, the likeliest first. */
export const otherDialects = (dialect: Dialect, codes: readonly string[]): readonly Dialect[] => {
  const quoted =
    dialect.quote !== null &&
    codes.some((code) => code === 'quote' || code === 'field_count' || code === 'record_too_long');
  return [
    ...(codes.includes('line_end')
      ? [
          { ...dialect, lineEnd: 'lf' as const },
          { ...dialect, lineEnd: 'crlf' as const },
        ]
      : []),
    ...(quoted
      ? [
          { ...dialect, quote: null, escape: null },
          { ...dialect, escape: '\\' },
          { ...dialect, trim: true },
          { ...dialect, quotes: 'lenient' as const },
        ]
      : []),
    // Without quotes, each line of a multi-line field is read as a record with too few fields.
    ...(dialect.quote === null && codes.includes('field_count')
      ? [{ ...dialect, quote: plainDialect.quote, escape: plainDialect.escape, quotes: 'lenient' as const }]
      : []),
    ...(codes.includes('field_count') ? [{ ...dialect, ragged: 'pad' as const }] : []),
  ];
};
