// The options of csv-parse that make it read exactly a dialect.

import type { Options } from 'csv-parse/sync';
import type { Dialect } from '../declaration.ts';

/**
 * `record_delimiter` is given because csv-parse otherwise takes the first line's newline for the whole file; `trim`
 * only lets a quote stand behind blanks, the decoder trims fields itself; ragged records are ours to judge.
 */
export const csvOptions = (dialect: Dialect, skipEmptyLines: boolean): Options => ({
  columns: false,
  bom: false,
  // As bytes: the decoder also parses bytes as latin1, in which a delimiter beyond ASCII would be another one.
  delimiter: Buffer.from(dialect.delimiter),
  quote: dialect.quote,
  escape: dialect.escape ?? dialect.quote,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: skipEmptyLines,
  comment: dialect.comment,
  comment_no_infix: true,
  trim: dialect.trim && dialect.quote !== null,
});

/**
 * The bytes as csv-parse has to see them: it drops an escape before any character, while in the dialect, as for COPY, an
 * escape means itself unless a quote or an escape follows. Such an escape is doubled.
 */
export const csvBytes = (bytes: Buffer, { quote, escape }: Dialect): Buffer => {
  if (quote === null || escape === null || escape === quote || !bytes.includes(escape)) return bytes;
  const [quoteByte, escapeByte] = [quote.charCodeAt(0), escape.charCodeAt(0)];
  const parts: Buffer[] = [];
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === quoteByte) isQuoted = !isQuoted;
    else if (isQuoted && bytes[at] === escapeByte) {
      if (bytes[at + 1] === quoteByte || bytes[at + 1] === escapeByte) at += 1;
      else {
        parts.push(bytes.subarray(kept, at + 1));
        kept = at;
      }
    }
  }
  return Buffer.concat([...parts, bytes.subarray(kept)]);
};
