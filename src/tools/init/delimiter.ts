// Finds the delimiter of a file: it cuts the first records into the same number of fields.

import type { Dialect, LineEnd } from '../../core/declaration.ts';
import { recordFields, writtenDialect } from '../../format/records/record-fields.ts';
import { isQuoteFault } from '../../format/records/raw-fields.ts';
import { createSplitter } from '../../format/records/splitter.ts';
import { findLineEnd, grammarOf } from '../../format/records/grammar.ts';

export const plainDialect: Dialect = { ...writtenDialect, lineEnd: 'auto' };

/** What the user says about the dialect. */
export interface GivenDialect {
  readonly delimiter?: string | undefined;
  readonly quote?: string | null | undefined;
  readonly escape?: string | undefined;
  readonly isHeader?: boolean | undefined;
  readonly headerLines?: number | undefined;
}

export interface HeadRecord {
  readonly line: number;
  readonly fields: readonly string[] | undefined;
  /** True if the record begins a quoted field that is never closed. */
  readonly isOpen: boolean;
}

const recordsMax = 500;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const headRecords = (head: Buffer, isWhole: boolean, dialect: Dialect): readonly HeadRecord[] => {
  const bytes = head.subarray(0, 3).equals(byteOrderMark) ? head.subarray(3) : head;
  const lineEnd: LineEnd = findLineEnd(bytes, isWhole, grammarOf(dialect, 2, 'lf'), false) ?? 'lf';
  const { starts, ends, lines, faults } = createSplitter(dialect, 2, lineEnd).split(bytes, isWhole);
  const records = Array.from(starts.subarray(0, recordsMax), (start, index) => {
    const fields = recordFields(bytes.subarray(start, ends[index]), dialect);
    const isFaulty = faults.has(index) || isQuoteFault(fields);
    const isOpen = isQuoteFault(fields) && fields.fault === 'open';
    return { line: lines[index]!, fields: isFaulty ? undefined : fields, isOpen };
  });
  return isWhole && starts.length <= recordsMax ? withoutCutEnd(records) : records;
};

/** Leaves out the end of a file that is cut off inside a quote. */
const withoutCutEnd = (records: readonly HeadRecord[]): readonly HeadRecord[] => {
  const open = records.findIndex(({ isOpen }) => isOpen);
  const [width] = usualWidth(records);
  const isCut = open > 0 && records.slice(open).every(({ fields }) => fields?.length !== width);
  return isCut ? records.slice(0, open) : records;
};

const delimiters = [',', ';', '\t', '|'] as const;

/** Delimiters of databases. No text has these characters, so one that fits is certain. */
const controls = ['\u0001', '\u001f', '\u001e'] as const;

/** Taken if they cut every record into the same number of fields, and no usual delimiter does. */
const rareDelimiters = ['||', '~', '^', '\u00a6', '::', '#'] as const;

export interface Candidate {
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

export const shareStep = 0.05;

const isBetter = (one: Candidate, other: Candidate): boolean => {
  if (one.fields > 1 !== other.fields > 1) return one.fields > 1;
  if (Math.abs(one.share - other.share) > shareStep) return one.share > other.share;
  return one.fields > other.fields;
};

export const commentSign = '#';

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

const ofDelimiter = (head: Buffer, isWhole: boolean, delimiter: string, given: GivenDialect): Candidate => {
  const { quote = plainDialect.quote, escape = quote } = given;
  const dialect = { ...plainDialect, delimiter, quote, escape };
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
    ...(head.includes(`\\${quote}`) ? [{ ...dialect, escape: given.escape ?? '\\' }] : []),
    { ...dialect, trim: true },
    { ...dialect, quote: null, escape: null },
    { ...dialect, quotes: 'lenient' as const },
  ]
    .filter((other) => given.quote === undefined || other.quote === quote)
    .map((other) => candidateOf(head, isWhole, other))
    .reduce((best, other) => (other.share > best.share + shareStep ? other : best), quoted);
};

const isCertain = ({ share, fields, records }: Candidate): boolean =>
  share === 1 && fields > 1 && records.length > 1;

/** Two bars between all fields look like a bar with an empty field behind each field. */
const isDoubled = ({ dialect, records }: Candidate): boolean =>
  dialect.delimiter === '|' &&
  records.every(({ fields = [] }) => fields.every((field, index) => index % 2 === 0 || field === ''));

/** Returns the candidate with the likeliest delimiter. */
export const bestOf = (head: Buffer, isWhole: boolean, given: GivenDialect): Candidate => {
  const candidateFor = (delimiter: string): Candidate => ofDelimiter(head, isWhole, delimiter, given);
  if (given.delimiter !== undefined) return candidateFor(given.delimiter);
  const control = controls
    .filter((one) => head.includes(one))
    .map(candidateFor)
    .find(isCertain);
  if (control !== undefined) return control;
  const [first, ...others] = delimiters.map(candidateFor);
  const best = others.reduce((found, other) => (isBetter(other, found) ? other : found), first!);
  if (isCertain(best) && !isDoubled(best)) return best;
  return (
    rareDelimiters
      .filter((one) => head.includes(one))
      .map(candidateFor)
      .find(isCertain) ?? best
  );
};

export const raggedWidth = ({ records }: Candidate): number | undefined => {
  const widths = records.map(({ fields }) => fields?.length ?? 0);
  const most = Math.max(0, ...widths);
  const full = widths.filter((width) => width === most).length;
  const short = widths.filter((width) => width === most - 1).length;
  return most > 2 && full > 1 && short > 1 && full + short === widths.length ? most : undefined;
};

const isRagged = (candidate: Candidate): boolean => raggedWidth(candidate) !== undefined;
