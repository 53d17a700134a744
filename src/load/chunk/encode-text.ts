// Writes rows in COPY's text format (PostgreSQL, "COPY", File Formats, Text Format).

const special = /[\\\t\n\r]/;
const specials = /[\\\t\n\r]/g;

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** Writes null as \N. No text looks like \N, because a backslash in a text is doubled. */
export const encodeTextRow = (values: readonly (string | null)[]): string => {
  let row = '';
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (index > 0) row += '\t';
    if (value === null) row += '\\N';
    else row += special.test(value) ? value.replace(specials, (found) => escapes[found]!) : value;
  }
  return `${row}\n`;
};

const escaped = /\\(.)/g;

const unescapes = new Map(Object.entries(escapes).map(([character, text]) => [text, character]));

const decodeField = (field: string): string | null => {
  if (!field.includes('\\')) return field;
  return field === '\\N' ? null : field.replace(escaped, (found) => unescapes.get(found)!);
};

export const decodeTextRows = (
  rows: Buffer,
  places: readonly number[],
  wanted?: ReadonlySet<number>,
): (string | null)[][] => {
  const decoded: (string | null)[][] = [];
  for (let at = 0, row = 1; at < rows.length; row += 1) {
    const end = rows.indexOf('\n', at);
    if (wanted?.has(row) ?? true) {
      const fields = rows.toString('utf8', at, end).split('\t');
      decoded.push(places.map((place) => decodeField(fields[place]!)));
    }
    at = end + 1;
  }
  return decoded;
};
