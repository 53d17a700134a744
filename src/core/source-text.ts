// Writes names and values as TypeScript, for pipeline files and for hints to paste.

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const literal = (text: string): string => {
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFEFF]/gu,
      (character) => named[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
    );
  return `'${escaped}'`;
};

const valueText = (value: unknown): string => {
  if (typeof value === 'string') return literal(value);
  return Array.isArray(value) ? `[${value.map(valueText).join(', ')}]` : String(value);
};

export const objectText = (options: Readonly<Record<string, unknown>>): string => {
  const entries = Object.entries(options).map(([name, value]) => `${name}: ${valueText(value)}`);
  return `{ ${entries.join(', ')} }`;
};

/** Names of columns are letters of any script, and nearly always identifiers of JavaScript, too. */
export const keyText = (name: string): string =>
  /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name) ? name : literal(name);
