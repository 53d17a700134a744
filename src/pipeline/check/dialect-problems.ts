// Finds dialect options that exclude each other, or that have no effect with staging: 'text'.

import type { Dialect } from '../../core/declaration.ts';
import { trimBlanks } from '../../format/records/blanks.ts';
import { inQuotes } from '../../core/wording.ts';

export const dialectProblems = (dialect: Dialect): string[] => {
  const { delimiter, quote, escape, header, comment } = dialect;
  const problems: string[] = [];
  if (quote !== null && delimiter.includes(quote)) problems.push('delimiter and quote must differ');
  if (quote === null && escape !== null) problems.push('escape has no meaning without a quote; leave it out');
  if (quote === null && dialect.quotes === 'lenient')
    problems.push("quotes: 'lenient' has no meaning without a quote; leave it out");
  if (quote === null && !dialect.quotedNulls)
    problems.push('quotedNulls has no meaning without a quote; leave it out');
  if (escape !== null && escape !== quote && delimiter.includes(escape))
    problems.push('delimiter and escape must differ: within quotes, an escape would begin in a delimiter');
  if (comment === null && dialect.comments === 'infix')
    problems.push("comments: 'infix' has no meaning without a comment; give one, such as comment: '#'");
  if (comment !== null && (comment.startsWith(delimiter) || delimiter.startsWith(comment)))
    problems.push(
      'comment and delimiter must differ: a record whose first field is empty would be a comment',
    );
  if (comment !== null && quote !== null && comment.startsWith(quote))
    problems.push('comment and quote must differ: a record whose first field is quoted would be a comment');
  if (dialect.headerLines > 1 && header !== true)
    problems.push('headerLines has no meaning unless the file has a header; leave it out');
  problems.push(...escapesProblems(dialect), ...trimProblems(dialect));
  if (typeof header !== 'boolean') {
    const twice = header.find((name, index) => header.indexOf(name) !== index);
    if (twice !== undefined)
      problems.push(`header names ${inQuotes(twice)} twice; every field needs its own name`);
  }
  return problems;
};

const escapesProblems = (dialect: Dialect): string[] => {
  const { escapes, quote, escape, delimiter, comment, trim } = dialect;
  if (escapes === null) return [];
  const problems: string[] = [];
  if (escapes === 'postgres' && quote !== null)
    problems.push("quote has no meaning with escapes: 'postgres', whose text format has none; leave it out");
  if (escape !== quote) problems.push('escape and escapes exclude each other; leave escape out');
  if (`${delimiter}${quote ?? ''}${comment ?? ''}`.includes('\\'))
    problems.push('with escapes, neither delimiter nor quote nor comment can have a backslash');
  if (trim !== false) problems.push('trim has no meaning with escapes, whose blanks are data; leave it out');
  if (dialect.quotes === 'lenient') problems.push("quotes: 'lenient' is not read with escapes; leave it out");
  return problems;
};

const isBlank = (text: string): boolean => /^[ \t]/.test(text);

/** Returns problems of a quote, comment or null token with blanks, which trim removes. */
const trimProblems = ({ trim, quote, escape, comment, nulls }: Dialect): string[] => {
  if (trim === false) return [];
  const problems: string[] = [];
  if (quote !== null && isBlank(quote)) problems.push('quote cannot be a blank with trim');
  if (escape !== null && escape !== quote && isBlank(escape))
    problems.push('escape cannot be a blank with trim');
  if (comment !== null && isBlank(comment)) problems.push('comment cannot begin with a blank with trim');
  // With trim 'outside', a quoted field keeps its blanks, so that it can match such a token.
  for (const token of trim === true ? nulls : [])
    if (trimBlanks(token) !== token)
      problems.push(
        `nulls has ${inQuotes(token)}, which no trimmed field matches; leave out the blanks around it`,
      );
  return problems;
};

export const verbatimProblems = (dialect: Dialect): string[] => {
  const { nulls, ragged } = dialect;
  const problems: string[] = [];
  const ignored = (option: string, instead: string): void => {
    const reason = "has no effect with staging: 'text', because the server reads the bytes untouched";
    problems.push(`${option} ${reason}; remove it, ${instead}`);
  };
  if (dialect.quotes === 'lenient') ignored("quotes: 'lenient'", 'or declare typed columns');
  if (dialect.match !== 'exact')
    problems.push("match has no effect with staging: 'text', because every field is a column; remove it");
  if (dialect.escapes !== null) ignored('escapes', 'or declare typed columns');
  if (dialect.lineEnd !== 'auto') ignored('lineEnd', 'or declare typed columns');
  if (dialect.trim !== false) ignored('trim', 'and trim in the SQL');
  if (nulls.length !== 1 || nulls[0] !== '') ignored('nulls', 'and use nullif in the SQL');
  if (dialect.quote !== null && dialect.quotedNulls)
    ignored('quotedNulls: true', 'and use nullif in the SQL');
  if (ragged !== 'reject') ignored(`ragged: '${ragged}'`, 'or declare typed columns');
  if (Buffer.byteLength(dialect.delimiter) !== 1)
    problems.push("delimiter must be one byte with staging: 'text', because COPY knows no other");
  return problems;
};
