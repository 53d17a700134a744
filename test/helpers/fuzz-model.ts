// Writes the files of a fuzzed load field by field, and says which rows, rejects and lines they must come to. Nothing of the product
// is used: the model and the loading share no code.

import type { Cell, Edit, Kind, RecordPlan, TableScene } from './fuzz-scene.ts';
import { constantOf, hasEscapes, headerOf, type Writing } from './fuzz-writing.ts';

const trimmed = (text: string): string => text.replace(/^[ \t]+|[ \t]+$/g, '');

/** A text as the encoding can hold it, and files without quotes. */
const fitted = (
  text: string,
  encoding: TableScene['encoding'],
  { quote, escape, delimiter, lineEnd, comment, comments }: Writing,
): string => {
  let fits = text;
  if (encoding === 'windows-1252') fits = fits.replace(/[^\0-\x7fé§]/gu, '?');
  if (encoding === 'shift_jis') fits = fits.replace(/[^\0-\x7fあソ]/gu, '?');
  // Before a line feed, an escaped carriage return is half of an escaped line end.
  if (escape === 'any' && lineEnd === 'lf') fits = fits.replace(/\r+$/, '');
  const isBare = quote === null && !hasEscapes({ escape });
  const ends = `\r\n${delimiter}${comments === 'infix' ? comment : ''}`;
  return isBare ? [...fits].filter((one) => !ends.includes(one)).join('') : fits;
};

const typedText = (kind: Kind, { number }: Cell): string => {
  if (kind === 'integer') return String(number);
  if (kind === 'numeric') return (number / 100).toFixed(2);
  if (kind === 'boolean') return String(number > 0);
  return new Date(Date.UTC(2000, 0, 1) + (number % 9_999) * 86_400_000).toISOString().slice(0, 10);
};

/** The text of a field, null where nothing is to be written. */
const wantedText = (kind: Kind, cell: Cell, scene: TableScene, writing: Writing): string | null => {
  const mayBeNull = writing.nulls.length > 0 || hasEscapes(writing);
  if (cell.isNull && mayBeNull) return null;
  return kind === 'text' ? fitted(cell.text, scene.encoding, writing) : typedText(kind, cell);
};

const escapeLetters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postgres: { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v' },
  mysql: { '\b': 'b', '\n': 'n', '\r': 'r', '\t': 't', '\x1a': 'Z' },
};

/** A character as the numbers of its bytes. */
const numbered = (one: string, isHex: boolean): string =>
  [...Buffer.from(one)]
    .map((byte) =>
      isHex ? `\\x${byte.toString(16).padStart(2, '0')}` : `\\${byte.toString(8).padStart(3, '0')}`,
    )
    .join('');

/** Escapes are letters, numbers, or the character itself: a cell by chance says which. */
const escapedText = (text: string, { number }: Cell, writing: Writing): string => {
  const { delimiter, quote, escape, lineEnd, comment, comments } = writing;
  const style = Math.abs(number) % 4;
  const infix = comments === 'infix' ? comment! : '';
  const special = new Set([...delimiter, '\\', ...(quote === null ? [] : [quote]), '\r', '\n', ...infix]);
  // A line end that is escaped as it is, and not by its letter.
  const isRaw = style === 0 && lineEnd !== 'cr';
  return [...text]
    .map((one) => {
      const letter = escapeLetters[escape]?.[one];
      const isSpecial = special.has(one);
      if (escape === 'postgres' && style > 1 && (isSpecial || one > '\x7f'))
        return numbered(one, style === 2);
      if (letter !== undefined && !(isRaw && one === '\n')) return `\\${letter}`;
      return isSpecial ? `\\${one}` : one;
    })
    .join('');
};

const quotedText = (text: string, { number }: Cell, writing: Writing): string => {
  const { quote, escape } = writing;
  const by = escape === 'quote' ? quote! : '\\';
  const isDoubled = hasEscapes(writing) && number % 2 === 0;
  const marked = [...text].map((one) => {
    if (one === quote) return (isDoubled ? quote : by) + one;
    return one === by ? by + one : one;
  });
  return `${quote}${marked.join('')}${quote}`;
};

/** Whether a text needs no quotes. */
const isPlain = (text: string, writing: Writing): boolean => {
  const { delimiter, quote, quotes, trim, comment, comments } = writing;
  if ([...`\r\n${delimiter}${comments === 'infix' ? comment : ''}`].some((one) => text.includes(one)))
    return false;
  if (trim !== false && text !== trimmed(text)) return false;
  if (quote === null || !text.includes(quote)) return true;
  return quotes === 'lenient' && !trimmed(text).startsWith(quote);
};

/** Whether a field is written in quotes; null may be, where a quoted token is null as well. */
const isInQuotes = (text: string | null, { isQuoted }: Cell, writing: Writing): boolean => {
  if (writing.quote === null) return false;
  if (text === null) return isQuoted && writing.quotedNulls && !hasEscapes(writing);
  return isQuoted || (!hasEscapes(writing) && !isPlain(text, writing));
};

/** Null where a backslash escapes any character: a token, or `\N`, also in quotes. */
const escapedNull = ({ number, isQuoted }: Cell, { nulls, quote, quotedNulls }: Writing): string => {
  const isToken = nulls.length > 0 && number % 2 === 0;
  const token = isToken ? nulls[Math.abs(number) % nulls.length]! : '\\N';
  return quote !== null && isQuoted && (!isToken || quotedNulls) ? `${quote}${token}${quote}` : token;
};

/** A field as it is written. */
const written = (text: string | null, cell: Cell, writing: Writing): string => {
  const { nulls, trim } = writing;
  if (hasEscapes(writing) && text === null) return escapedNull(cell, writing);
  const shown = text ?? nulls[Math.abs(cell.number) % nulls.length]!;
  if (!isInQuotes(text, cell, writing))
    return hasEscapes(writing) ? escapedText(shown, cell, writing) : shown;
  const quoted = quotedText(shown, cell, writing);
  return trim !== false && cell.number % 2 === 0 ? ` ${quoted} ` : quoted;
};

/** What production has of it. */
const stored = (text: string | null, cell: Cell, writing: Writing): string | null => {
  const { trim, nulls, quotedNulls } = writing;
  if (text === null) return null;
  const isQuoted = isInQuotes(text, cell, writing);
  const seen = trim === true || (trim === 'outside' && !isQuoted) ? trimmed(text) : text;
  return nulls.includes(seen) && (quotedNulls || !isQuoted) ? null : seen;
};

/** What production has of the constant of a file. */
const storedConstant = (text: string, { trim, nulls }: Writing): string | null => {
  const seen = trim === false ? text : trimmed(text);
  return nulls.includes(seen) ? null : seen;
};

export interface ExpectedReject {
  readonly line: number;
  readonly record: number;
  readonly code: string;
}

export interface Expected {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly rejects: readonly ExpectedReject[];
  readonly records: number;
}

/** A fault that the dialect makes none of, or that would make something else of the file. */
const faultOf = ({ fault }: RecordPlan, index: number, writing: Writing, isText: boolean) => {
  const { ragged, header, trim, delimiter } = writing;
  // Where the SQL makes the rows, nothing looks at them.
  if (isText && (fault === 'type' || fault === 'no id')) return 'none';
  // The first record says how many fields there are.
  if (index === 0 && header === 'none') return 'none';
  // Without an id, it could be a line of blanks.
  if (fault === 'no id' && trim !== false && delimiter === '\t') return 'none';
  if (fault === 'short' && ragged === 'pad') return 'padded';
  return fault === 'long' && ragged === 'cut' ? 'cut' : fault;
};

/** One record: its fields as they are written, and what becomes of it. */
const recordOf = (plan: RecordPlan, id: number, index: number, scene: TableScene, writing: Writing) => {
  const isText = scene.staging === 'text';
  const fault = faultOf(plan, index, writing, isText);
  const cells = scene.kinds.map((_, place) => plan.cells[place]!);
  const texts = cells.map((cell, place) => wantedText(scene.kinds[place]!, cell, scene, writing));
  const row = [String(id), ...texts.map((text, place) => stored(text, cells[place]!, writing))];
  const idText = { type: `x${id}`, 'no id': '' }[fault as string] ?? String(id);
  const idCell = { ...plan.id, isQuoted: plan.id.isQuoted && fault !== 'no id' };
  const fields = [
    written(idText, idCell, writing),
    ...texts.map((text, place) => written(text, cells[place]!, writing)),
  ];
  const isShort = fault === 'short' || fault === 'padded';
  if (isShort) fields.pop();
  if (fault === 'long' || fault === 'cut') fields.push('more');
  if (fault === 'padded') row[row.length - 1] = null;
  // The server counts the fields that come as they are.
  const count = isText ? 'server' : 'field_count';
  const code = { type: 'type', short: count, long: count }[fault as string];
  return { fields, row: code === undefined && fault !== 'no id' ? row : undefined, code };
};

const linesIn = (text: string, { newline }: Writing): number =>
  text.split(newline === '\r' ? '\r' : '\n').length - 1;

/** What is before the records of a file. */
const linesBefore = (scene: TableScene, writing: Writing): readonly string[] => {
  const { newline, delimiter, comment, comments, skipLines, header } = writing;
  const lines = Array.from({ length: skipLines }, (_, line) => `Report, ${line}`);
  if (comment !== null) lines.push(`${comment} about "them${delimiter}`);
  if (header === 'names')
    for (const names of headerOf(scene, writing))
      lines.push(names.join(delimiter) + (comments === 'infix' ? `${comment} "head` : ''));
  return lines.map((line) => line + newline);
};

/** The text of a file, and what it comes to. */
export const writeFile = (
  scene: TableScene,
  writing: Writing,
  file: number,
): { text: string; expected: Expected } => {
  const { newline, delimiter, comment, comments, skipEnd, header, isEnded } = writing;
  const parts: string[] = [];
  let line = 1;
  const add = (text: string): void => {
    parts.push(text);
    line += linesIn(text, writing);
  };
  linesBefore(scene, writing).forEach(add);
  const rows: (readonly (string | null)[])[] = [];
  const rejects: ExpectedReject[] = [];
  const constant = constantOf(scene, file);
  const own = constant === undefined ? [] : [storedConstant(constant, writing)];
  const plans = Array.from({ length: scene.times }, () => scene.records).flat();
  for (const [index, plan] of plans.entries()) {
    if (plan.before === 'blank line' && (index > 0 || header === 'names')) add(newline);
    if (plan.before === 'comment' && comment !== null) add(`${comment} "no record${delimiter}${newline}`);
    const { fields, row, code } = recordOf(plan, file * 1_000_000 + index, index, scene, writing);
    if (code !== undefined) rejects.push({ line, record: index + 1, code });
    else if (row !== undefined) rows.push([...row, ...own]);
    const isLast = index === plans.length - 1 && skipEnd === 0 && !isEnded;
    const after = comments === 'infix' && plan.hasCommentAfter ? `${comment} no "data${delimiter}` : '';
    add(fields.join(delimiter) + after + (isLast ? '' : newline));
  }
  for (let last = skipEnd; last > 0; last -= 1) add(`TOTAL "${last}${last === 1 && !isEnded ? '' : newline}`);
  return { text: parts.join(''), expected: { rows, rejects, records: plans.length } };
};

const shiftJis: Readonly<Record<string, readonly number[]>> = { あ: [0x82, 0xa0], ソ: [0x83, 0x5c] };

export const encoded = (text: string, encoding: TableScene['encoding']): Buffer => {
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16 by mark') return Buffer.from(`\ufeff${text}`, 'utf16le');
  if (encoding === 'windows-1252') return Buffer.from(text, 'latin1');
  if (encoding === 'shift_jis')
    return Buffer.from([...text].flatMap((one) => shiftJis[one] ?? [one.charCodeAt(0)]));
  return Buffer.from(encoding === 'utf-8' ? text : `\ufeff${text}`);
};

/** The bytes with these changes, one after the other. */
export const damaged = (bytes: Buffer, edits: readonly Edit[]): Buffer =>
  edits.reduce((now, { at, kind, byte }) => {
    const place = now.length === 0 ? 0 : at % now.length;
    const [before, after] = [now.subarray(0, place), now.subarray(place + (kind === 'insert' ? 0 : 1))];
    if (kind === 'end') return before;
    return Buffer.concat(kind === 'remove' ? [before, after] : [before, Buffer.of(byte), after]);
  }, bytes);
