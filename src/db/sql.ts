// SQL as data: statements with values, and quoted names.

/** A statement for `client.query`. Values are always parameters. */
export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Writes a value as an SQL literal. Multi-statement queries need only numbers and texts. */
const literal = (value: unknown): string => {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? `(${value})` : String(value);
  throw new TypeError(`no literal for a ${typeof value}`);
};

/** Matches quoted names and texts, which may contain a $1, and placeholders. */
const quotedOrPlaceholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Inserts the values as literals: multi-statement queries cannot have parameters. */
export const inline = ({ text, values = [] }: Query): string =>
  values.length === 0
    ? text
    : text.replace(quotedOrPlaceholder, (found, number: string | undefined) =>
        number === undefined ? found : literal(values[Number(number) - 1]),
      );

/** Quotes an identifier, or several joined by dots: `"noaa"."daily"`. */
export const quoteName = (...parts: readonly string[]): string =>
  parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');

export const quoteNames = (names: readonly string[]): string =>
  names.map((name) => quoteName(name)).join(', ');

/** pg_catalog is first, so that no other object hides the server's own; pg_temp is last. */
export const searchPath = (schemas: readonly string[]): string =>
  quoteNames(['pg_catalog', ...schemas, 'pg_temp']);

/** Quotes a text where the grammar takes no parameter (`comment on … is`). */
export const quoteText = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
};

/**
 * PostgreSQL cannot store NUL (becomes \x00) and lone surrogates (become U+FFFD). PostgreSQL,
 * "Character Types" and "JSON Types".
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\x00');

/** The JSON of a value with all texts made storable. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storable(part) : part));
