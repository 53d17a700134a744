// An independent model of a dialect, read character by character and without regard to speed. Both
// decoders are compared with it. Delimiter, quote and line end are always comma, double quote and
// LF.

export interface ModelDialect {
  readonly quotes: 'strict' | 'lenient';
  readonly escape: '"' | '\\';
  readonly escapes: 'any' | null;
  readonly trim: boolean | 'outside';
  readonly nulls: readonly string[];
  readonly quotedNulls: boolean;
  readonly comment: string | null;
  readonly comments: 'lines' | 'infix';
}

/** A record's position, and its values or why it is rejected. */
export interface ModelRecord {
  readonly line: number;
  readonly byte: number;
  readonly values: readonly (string | null)[] | 'quote' | 'field_count';
}

/** A field and the index after it. Undefined if its quote is never closed, or text follows it. */
interface Field {
  readonly value: string | null;
  readonly hasStray: boolean;
  readonly next: number;
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';
const strip = (text: string): string => text.replace(/^[ \t]+|[ \t]+$/g, '');

const quotedContent = (text: string, from: number, { escape, escapes }: ModelDialect) => {
  let content = '';
  for (let at = from; at < text.length; at += 1) {
    const [one, next] = [text[at]!, text[at + 1]];
    if (escapes !== null && one === '\\') {
      content += next ?? '';
      at += 1;
    } else if (one === escape && next !== undefined && (next === '"' || next === escape)) {
      content += next;
      at += 1;
    } else if (one === '"') return { content, next: at + 1 };
    else content += one;
  }
  return undefined;
};

/** Index where a comment inside a line begins. */
const isInfix = (text: string, at: number, { comment, comments }: ModelDialect): boolean =>
  comments === 'infix' && text.startsWith(comment!, at);

const plainContent = (text: string, from: number, dialect: ModelDialect) => {
  const { escapes } = dialect;
  let content = '';
  let hasQuote = false;
  let at = from;
  for (; at < text.length && text[at] !== ',' && text[at] !== '\n' && !isInfix(text, at, dialect); at += 1) {
    const isEscape = escapes !== null && text[at] === '\\';
    hasQuote ||= !isEscape && text[at] === '"';
    if (isEscape) at += 1;
    content += text[at] ?? '';
  }
  return { content, hasQuote, next: Math.min(at, text.length) };
};

const fieldAt = (text: string, from: number, dialect: ModelDialect): Field | undefined => {
  const { trim, quotes, nulls, quotedNulls } = dialect;
  const isNullMark = (written: string): boolean => dialect.escapes !== null && written === '\\N';
  let open = from;
  while (trim !== false && isBlank(text[open])) open += 1;
  if (text[open] !== '"') {
    const { content, hasQuote, next } = plainContent(text, from, dialect);
    const value = trim === false ? content : strip(content);
    const hasStray = quotes === 'strict' && hasQuote;
    if (isNullMark(text.slice(from, next))) return { value: null, hasStray, next };
    return { value: nulls.includes(value) ? null : value, hasStray, next };
  }
  const quoted = quotedContent(text, open + 1, dialect);
  if (quoted === undefined) return undefined;
  const { content: tail, next } = plainContent(text, quoted.next, dialect);
  const isEnd = tail === '' || (trim !== false && strip(tail) === '');
  if (!isEnd && quotes === 'strict') return undefined;
  if (isNullMark(text.slice(open + 1, quoted.next - 1))) return { value: null, hasStray: false, next };
  const after = isEnd ? '' : trim === 'outside' ? tail.replace(/[ \t]+$/, '') : tail;
  const value = trim === true ? strip(quoted.content + after) : quoted.content + after;
  return { value: quotedNulls && nulls.includes(value) ? null : value, hasStray: false, next };
};

/** Reads a file without a header. `fields` is the number of fields in each record. */
export const modelRecords = (text: string, fields: number, dialect: ModelDialect): readonly ModelRecord[] => {
  const records: ModelRecord[] = [];
  for (let at = 0; at < text.length;) {
    const lineEnd = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at);
    const line = text.slice(at, lineEnd);
    const infix = dialect.comments === 'infix' ? line.indexOf(dialect.comment!) : -1;
    const isComment = dialect.comment !== null && line.startsWith(dialect.comment);
    if (
      isComment ||
      (dialect.trim === false ? line : strip(infix === -1 ? line : line.slice(0, infix))) === ''
    ) {
      at = lineEnd + 1;
      continue;
    }
    const place = { line: text.slice(0, at).split('\n').length, byte: at };
    const values: (string | null)[] = [];
    let hasStray = false;
    let field = fieldAt(text, at, dialect);
    for (; field !== undefined; field = fieldAt(text, field.next + 1, dialect)) {
      values.push(field.value);
      hasStray ||= field.hasStray;
      if (text[field.next] !== ',') break;
    }
    if (field === undefined || hasStray) records.push({ ...place, values: 'quote' });
    else records.push({ ...place, values: values.length === fields ? values : 'field_count' });
    const newline = text.indexOf('\n', field?.next ?? at);
    at = newline === -1 ? text.length : newline + 1;
  }
  return records;
};
