// Guesses the dialect of a file from its first bytes: delimiter, quote, lines before the header.

import type { Dialect } from '../../core/declaration.ts';
import {
  bestOf,
  commentSign,
  plainDialect,
  raggedWidth,
  shareStep,
  type Candidate,
  type GivenDialect,
  type HeadRecord,
} from './delimiter.ts';
import { hasHeader } from './header.ts';

const commentRemark = `lines that begin with ${commentSign} are comments`;

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

/** Two blanks between texts: columns of a fixed width. */
const aligned = /\S {2,}\S/;

const noDelimiter = ({ fields, records }: Candidate): readonly string[] => {
  if (fields > 1 || records.length < 2) return [];
  const lines = records.filter((record) => aligned.test(record.fields?.[0] ?? '')).length;
  return lines > records.length / 2
    ? [
        'the columns are aligned by blanks: the whole line is one field; write the file with delimiters, or cut the text in SQL',
      ]
    : [
        'no delimiter was found: the whole line is one field; if there are more, `--delimiter` names the delimiter',
      ];
};

const guessOf = (head: Buffer, isWhole: boolean, given: GivenDialect): HeadGuess => {
  const best = bestOf(head, isWhole, given);
  const usual = (records: readonly HeadRecord[]) =>
    records.flatMap(({ fields }) => (fields?.length === best.fields ? [fields] : []));
  const always = [
    ...(best.dialect.comment === null ? [] : [commentRemark]),
    ...(given.delimiter === undefined ? noDelimiter(best) : []),
  ];
  const short = shortened(best) ?? (given.isHeader === true ? undefined : unevenRecords(best));
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

export const guessDialect = (head: Buffer, isWhole: boolean, given: GivenDialect = {}): HeadGuess => {
  const [line, delimiter] = excelLine.exec(head.toString('latin1', 0, 16)) ?? [];
  if (line === undefined || delimiter === undefined) return guessOf(head, isWhole, given);
  const { dialect, remarks, ...guess } = guessOf(head.subarray(line.length), isWhole, {
    delimiter,
    ...given,
  });
  return {
    ...guess,
    dialect: { ...dialect, skipLines: dialect.skipLines + 1 },
    remarks: [...remarks, 'the first line tells Excel the delimiter'],
  };
};

/** Returns other dialects to try if records have faults with these codes, the likeliest first. */
export const otherDialects = (
  dialect: Dialect,
  codes: readonly string[],
  given: GivenDialect,
): readonly Dialect[] => {
  const others: readonly Dialect[] = possibleDialects(dialect, codes);
  return others.filter(
    ({ quote, escape }) =>
      (given.quote === undefined || quote === dialect.quote) &&
      (given.escape === undefined || escape === dialect.escape),
  );
};

const possibleDialects = (dialect: Dialect, codes: readonly string[]): readonly Dialect[] => {
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
