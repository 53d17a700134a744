// SQL as data: statements with values, and quoted names.

export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
}

const literal = (value: unknown): string => {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? `(${value})` : String(value);
  if (typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`;
  throw new TypeError(`no literal for a ${typeof value}`);
};

/** Matches placeholders, and quoted names and texts, in which $1 is not a placeholder. */
const quotedOrPlaceholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Inserts values as literals, because multi-statement queries cannot have parameters. */
export const inline = ({ text, values = [] }: Query): string =>
  values.length === 0
    ? text
    : text.replace(quotedOrPlaceholder, (found, number: string | undefined) =>
        number === undefined ? found : literal(values[Number(number) - 1]),
      );

/**
 * Lets the server execute the statements that `query` selects in its only column: nobody waits for
 * their texts.
 */
export const executing = (query: Query): Query => {
  const body = `declare _etl_sql text;
    begin
      foreach _etl_sql in array array(${inline(query)}) loop execute _etl_sql;
      end loop;
    end`;
  return { text: `do ${quoteText(body)}` };
};

export const quoteName = (...parts: readonly string[]): string =>
  parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');

export const quoteNames = (names: readonly string[]): string =>
  names.map((name) => quoteName(name)).join(', ');

/** pg_catalog is first, so that nothing hides the server's own objects. */
export const searchPath = (schemas: readonly string[]): string =>
  quoteNames(['pg_catalog', ...schemas, 'pg_temp']);

/** For statements that cannot have parameters, such as `comment on … is`. */
export const quoteText = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
};

/** Replaces characters that PostgreSQL cannot store: NUL by \x00, lone surrogates by U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\\x00');

export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storable(part) : part));
