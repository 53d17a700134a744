// SQL as data: a statement with its values, and names quoted so that none can be anything but a name.

/** A statement for `client.query`: values are always parameters. */
export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Quotes one identifier, or several joined by dots: `"noaa"."daily"`. PostgreSQL, "Identifiers and Key Words". */
export const quoteName = (...parts: readonly string[]): string =>
  parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');

/** Quoted names as a list. */
export const quoteNames = (names: readonly string[]): string =>
  names.map((name) => quoteName(name)).join(', ');

/** Quotes a text where the grammar takes no parameter (`comment on … is`). */
export const quoteText = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
};
