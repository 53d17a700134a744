// SQL as data: a statement with its values, and names quoted so that none can be anything but a name.

/** A statement for `client.query`: values are always parameters. */
export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** A value as SQL text; numbers and texts are all that statements of ours need in one message. */
const literal = (value: unknown): string => {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? `(${value})` : String(value);
  throw new TypeError(`no literal for a ${typeof value}`);
};

/** A quoted name or text, which may hold anything, or the place of a value. */
const quotedOrPlace = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** The statement with its values as literals: several statements in one message have no parameters. */
export const inline = ({ text, values = [] }: Query): string =>
  values.length === 0
    ? text
    : text.replace(quotedOrPlace, (found, place: string | undefined) =>
        place === undefined ? found : literal(values[Number(place) - 1]),
      );

/** Quotes one identifier, or several joined by dots: `"noaa"."daily"`. PostgreSQL, "Identifiers and Key Words". */
export const quoteName = (...parts: readonly string[]): string =>
  parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');

/** Quoted names as a list. */
export const quoteNames = (names: readonly string[]): string =>
  names.map((name) => quoteName(name)).join(', ');

/**
 * The value of a search_path: pg_catalog goes first, so that nobody's object takes the place of the server's, and the
 * session's temporary objects last.
 */
export const searchPath = (schemas: readonly string[]): string =>
  quoteNames(['pg_catalog', ...schemas, 'pg_temp']);

/** Quotes a text where the grammar takes no parameter (`comment on … is`). */
export const quoteText = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
};

/**
 * Text that PostgreSQL can store, whatever a file, a host or a user's function put into it: NUL is written \x00, a lone
 * surrogate becomes U+FFFD. PostgreSQL, "Character Types" and "JSON Types".
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\x00');

/** The same for a value that is kept as JSON. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storable(part) : part));
