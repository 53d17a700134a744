// Words of messages that every layer may need: counts with their nouns, and texts of files made printable.

/** 1234567 -> '1,234,567'. */
export const formatCount = (count: number): string =>
  String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');

/** 1 -> '1 file', 2 -> '2 files'. */
export const plural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The texts, or the first ones and 'and 3 more'. */
export const firstOf = (texts: readonly string[], max: number): readonly string[] => {
  const more = texts.length - max;
  return more > 0 ? [...texts.slice(0, max), `and ${formatCount(more)} more`] : texts;
};

/** Where a record is: `a.csv:35`, or `a.csv:35-37` when it has several lines. */
export const linesOf = (file: string, line: number, lastLine: number): string =>
  lastLine > line ? `${file}:${line}-${lastLine}` : `${file}:${line}`;

/**
 * Control and format characters, separators of lines, and halves of characters: they would steer a terminal, forge a line, or
 * hide or turn the text around them (https://www.unicode.org/reports/tr36, "Bidirectional Text Spoofing").
 */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Finds nothing in most texts, in less time. */
const plain = /^[\x20-\x7e]*$/;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeHidden = (character: string): string =>
  named[character] ??
  character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * A text of a file or a declaration where it is written out: what cannot be seen is escaped, and everything else is as it is.
 *
 * @param kept characters that are left alone, such as line breaks
 */
export const visible = (text: string, kept: string): string =>
  plain.test(text)
    ? text
    : text.replace(hidden, (character) => (kept.includes(character) ? character : escapeHidden(character)));

/** The same on one line. */
export const onOneLine = (text: string): string => visible(text, '');

/** The same in double quotes. */
export const inQuotes = (text: string): string => onOneLine(JSON.stringify(text));

/** JSON in which everything hidden is escaped: a terminal or a log may show it. Arguments as of JSON.stringify. */
export const visibleJson = (
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indent = 0,
): string => visible(JSON.stringify(value, replacer, indent) ?? 'null', '\n');

/** Lines below a message, each of which is on one line. */
export const asList = (lines: readonly string[]): string =>
  lines.map((line) => `\n  ${onOneLine(line)}`).join('');
