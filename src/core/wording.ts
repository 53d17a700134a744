// Parts of messages: counts with nouns, positions of records, and texts of files made printable.

/** 1234567 -> '1,234,567'. */
export const formatCount = (count: number): string =>
  String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');

/** 1 -> '1 file', 2 -> '2 files'. */
export const plural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The first `max` texts, then 'and 3 more' if there are more. */
export const firstOf = (texts: readonly string[], max: number): readonly string[] => {
  const more = texts.length - max;
  return more > 0 ? [...texts.slice(0, max), `and ${formatCount(more)} more`] : texts;
};

/** `a.csv:35`, or `a.csv:35-37` for a record of several lines. */
export const linesOf = (file: string, line: number, lastLine: number): string =>
  lastLine > line ? `${file}:${line}-${lastLine}` : `${file}:${line}`;

/**
 * Control and format characters, line separators, lone surrogates: they can control a terminal,
 * fake a line, or hide or reverse text (https://www.unicode.org/reports/tr36, "Bidirectional Text
 * Spoofing").
 */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Most texts match this. The test is faster than a search for hidden characters. */
const plain = /^[\x20-\x7e]*$/;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeHidden = (character: string): string =>
  named[character] ??
  character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Escapes hidden characters except those in `kept`, such as line breaks. */
export const visible = (text: string, kept: string): string =>
  plain.test(text)
    ? text
    : text.replace(hidden, (character) => (kept.includes(character) ? character : escapeHidden(character)));

export const onOneLine = (text: string): string => visible(text, '');

export const inQuotes = (text: string): string => onOneLine(JSON.stringify(text));

/** Escapes hidden characters, so that a terminal or log may show the result. */
export const visibleJson = (
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indent = 0,
): string => visible(JSON.stringify(value, replacer, indent) ?? 'null', '\n');

/** Returns lines to append to a message, each indented and on its own line. */
export const asList = (lines: readonly string[]): string =>
  lines.map((line) => `\n  ${onOneLine(line)}`).join('');
