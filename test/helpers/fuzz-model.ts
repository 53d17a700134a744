// Writes the files of a fuzzed load field by field, and says which rows, rejects and lines they must come to. Nothing of the product
// is used: the model and the loading share no code.

import type { CsvOptions } from '../../src/pipeline/declare/csv.ts';
import type { Cell, DialectPlan, Edit, Kind, RecordPlan, TableScene } from './fuzz-scene.ts';

/** How the files of a scene are written: the plan, without what cannot be together. */
export interface Writing extends Omit<DialectPlan, 'escape'> {
  readonly escape: 'quote' | 'backslash' | 'postgres' | 'mysql' | 'any';
  readonly lineEnd: 'lf' | 'crlf' | 'cr';
}

const lineEnds: Readonly<Record<string, Writing['lineEnd']>> = { '\n': 'lf', '\r\n': 'crlf', '\r': 'cr' };

export const writingOf = ({ dialect, encoding }: TableScene): Writing => {
  const lineEnd = lineEnds[dialect.newline]!;
  const delimiter = encoding === 'shift_jis' && dialect.delimiter === '§' ? ',' : dialect.delimiter;
  const plan = { ...dialect, delimiter, lineEnd };
  const { escape } = dialect;
  if (escape === 'any') return { ...plan, quotes: 'strict', trim: false };
  if (escape === 'postgres' || escape === 'mysql') {
    const quote = escape === 'mysql' && dialect.quote === '"' ? '"' : null;
    return { ...plan, quote, quotes: 'strict', trim: false, nulls: [], quotedNulls: true };
  }
  if (dialect.quote === null) return { ...plan, quotes: 'strict', escape: 'quote' };
  return plan;
};

/** A backslash escapes any character. */
const hasEscapes = ({ escape }: Pick<Writing, 'escape'>): boolean =>
  escape !== 'quote' && escape !== 'backslash';

const headerOf = (scene: TableScene): readonly string[] => [
  'id',
  ...scene.kinds.map((_, index) => `c${index + 1}`),
];

/** What the table declares. */
export const optionsOf = (scene: TableScene, writing: Writing): CsvOptions => {
  const { delimiter, quote, escape, quotes, trim, nulls, comment, skipLines, skipEnd, ragged } = writing;
  const isOwn = escape === 'postgres' || escape === 'mysql';
  return {
    delimiter,
    quote,
    ...(hasEscapes(writing) ? { escapes: escape as never } : {}),
    ...(isOwn ? {} : { nulls }),
    ...(quote === null ? {} : { quotedNulls: writing.quotedNulls }),
    ...(escape === 'backslash' ? { escape: '\\' } : {}),
    quotes,
    trim,
    comment,
    skipLines,
    skipEnd,
    ragged,
    ...(writing.isNewlineDeclared ? { lineEnd: writing.lineEnd } : {}),
    header: { names: true, none: false, list: headerOf(scene) }[writing.header],
    encoding:
      { 'utf-8 with mark': 'utf-8', 'utf-16 by mark': 'detect' }[scene.encoding as string] ?? scene.encoding,
  };
};

const trimmed = (text: string): string => text.replace(/^[ \t]+|[ \t]+$/g, '');

/** A text as the encoding can hold it, and files without quotes. */
const fitted = (
  text: string,
  encoding: TableScene['encoding'],
  { quote, escape, delimiter, lineEnd }: Writing,
): string => {
  let fits = text;
  if (encoding === 'windows-1252') fits = fits.replace(/[^\0-\x7fé§]/gu, '?');
  if (encoding === 'shift_jis') fits = fits.replace(/[^\0-\x7fあソ]/gu, '?');
  // Before a line feed, an escaped carriage return is half of an escaped line end.
  if (escape === 'any' && lineEnd === 'lf') fits = fits.replace(/\r+$/, '');
  const isBare = quote === null && !hasEscapes({ escape });
  return isBare ? [...fits].filter((one) => !`\r\n${delimiter}`.includes(one)).join('') : fits;
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

const escapedText = (
  text: string,
  { delimiter, quote, escape, lineEnd }: Writing,
  isRaw: boolean,
): string => {
  const letters: Record<string, string> = escape === 'any' ? {} : { '\r': '\\r', '\t': '\\t' };
  // A line end that is escaped as it is, and not by its letter.
  if (escape !== 'any' && (!isRaw || lineEnd === 'cr')) letters['\n'] = '\\n';
  const special = new Set([...delimiter, '\\', ...(quote === null ? [] : [quote]), '\r', '\n']);
  return [...text].map((one) => letters[one] ?? (special.has(one) ? `\\${one}` : one)).join('');
};

const quotedText = (text: string, writing: Writing): string => {
  const { quote, escape } = writing;
  const by = escape === 'quote' ? quote! : '\\';
  const marked = [...text].map((one) => (one === quote || one === by ? by + one : one)).join('');
  return `${quote}${marked}${quote}`;
};

/** Whether a text needs no quotes. */
const isPlain = (text: string, { delimiter, quote, quotes, trim }: Writing): boolean => {
  if ([...`\r\n${delimiter}`].some((one) => text.includes(one))) return false;
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

/** A field as it is written. */
const written = (text: string | null, cell: Cell, writing: Writing): string => {
  const { nulls, trim } = writing;
  if (hasEscapes(writing) && text === null) return '\\N';
  const shown = text ?? nulls[Math.abs(cell.number) % nulls.length]!;
  if (!isInQuotes(text, cell, writing))
    return hasEscapes(writing) ? escapedText(shown, writing, cell.isQuoted) : shown;
  const quoted = quotedText(shown, writing);
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
const faultOf = ({ fault }: RecordPlan, index: number, { ragged, header, trim, delimiter }: Writing) => {
  // The first record says how many fields there are.
  if (index === 0 && header === 'none') return 'none';
  // Without an id, it could be a line of blanks.
  if (fault === 'no id' && trim !== false && delimiter === '\t') return 'none';
  if (fault === 'short' && ragged === 'pad') return 'padded';
  return fault === 'long' && ragged === 'cut' ? 'cut' : fault;
};

/** One record: its fields as they are written, and what becomes of it. */
const recordOf = (plan: RecordPlan, id: number, index: number, scene: TableScene, writing: Writing) => {
  const fault = faultOf(plan, index, writing);
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
  const code = { type: 'type', short: 'field_count', long: 'field_count' }[fault as string];
  return { fields, row: code === undefined && fault !== 'no id' ? row : undefined, code };
};

const linesIn = (text: string, { newline }: Writing): number =>
  text.split(newline === '\r' ? '\r' : '\n').length - 1;

/** The text of a file, and what it comes to. */
export const writeFile = (
  scene: TableScene,
  writing: Writing,
  file: number,
): { text: string; expected: Expected } => {
  const { newline, delimiter, comment, skipLines, skipEnd, header, isEnded } = writing;
  const parts: string[] = [];
  let line = 1;
  const add = (text: string): void => {
    parts.push(text);
    line += linesIn(text, writing);
  };
  for (let skipped = 0; skipped < skipLines; skipped += 1) add(`Report, ${skipped}${newline}`);
  if (header === 'names') add(headerOf(scene).join(delimiter) + newline);
  const rows: (readonly (string | null)[])[] = [];
  const rejects: ExpectedReject[] = [];
  const plans = Array.from({ length: scene.times }, () => scene.records).flat();
  for (const [index, plan] of plans.entries()) {
    if (plan.before === 'blank line' && (index > 0 || header === 'names')) add(newline);
    if (plan.before === 'comment' && comment !== null) add(`${comment} "no record${delimiter}${newline}`);
    const { fields, row, code } = recordOf(plan, file * 1_000_000 + index, index, scene, writing);
    if (code !== undefined) rejects.push({ line, record: index + 1, code });
    else if (row !== undefined) rows.push(row);
    const isLast = index === plans.length - 1 && skipEnd === 0 && !isEnded;
    add(fields.join(delimiter) + (isLast ? '' : newline));
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
