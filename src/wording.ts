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

// Control characters that JSON leaves alone would still garble a terminal or a log line.
const unprintable = /[\u007f-\u009f\u2028\u2029]/g;

/** A text of a file or a declaration in double quotes, on one line: control characters are escaped. */
export const inQuotes = (text: string): string =>
  JSON.stringify(text).replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

// JSON escapes every control character below a blank.
const garbling = /[\0-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** The text on one line, its control characters escaped and everything else as it is. */
export const onOneLine = (text: string): string =>
  text.replace(garbling, (characters) => inQuotes(characters).slice(1, -1));
