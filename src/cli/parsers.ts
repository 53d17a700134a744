// Parsers for the texts of flags, variables and arguments.

type Parsed<T> = { readonly value: T } | { readonly problem: string };
/** Returns the value, or the problem with the text. `nowMs`: current time in ms since 1970. */
export type Parser<T> = (text: string, nowMs: number) => Parsed<T>;

export const parsePair: Parser<readonly [string, string]> = (text) => {
  const index = text.indexOf('=');
  if (index < 1) return { problem: `'${text}' is not of the form name=value` };
  return { value: [text.slice(0, index).trim(), text.slice(index + 1)] };
};

const on = new Set(['1', 'true', 'yes', 'on']);
const off = new Set(['0', 'false', 'no', 'off']);

export const parseBoolean = (text: string): Parsed<boolean> => {
  const word = text.toLowerCase();
  if (on.has(word) || off.has(word)) return { value: on.has(word) };
  return { problem: `'${text}' is neither true nor false` };
};

export const parseCount =
  (max: number) =>
  (text: string): Parsed<number> => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return { value };
    return { problem: `'${text}' is not a whole number from 1 to ${max}` };
  };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as 30s, 5m or 1h into milliseconds. Without a unit, it is in seconds. */
export const parseDuration: Parser<number> = (text) => {
  const [, digits = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h)?$/.exec(text) ?? [];
  if (digits === '') return { problem: `'${text}' is not a time such as 30s, 5m or 1h` };
  return { value: Number(digits) * unitMs[unit]! };
};

export const dayMs = 86_400_000;

const ageMs: Readonly<Record<string, number>> = { h: 3_600_000, d: dayMs, w: 7 * dayMs };

export const parseAge: Parser<number> = (text) => {
  const [, count, unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return { value: Number(count) * ageMs[unit]! };
  return { problem: `'${text}' is not an age such as 12h, 90d or 8w` };
};

export const parseChoice =
  <T extends string>(choices: readonly T[]): Parser<T> =>
  (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `'${text}' is not one of ${choices.join(', ')}` } : { value };
  };

export const parseNames: Parser<readonly string[]> = (text) => {
  const names = text.split(',').map((name) => name.trim());
  return names.includes('') ? { problem: `'${text}' contains an empty name` } : { value: names };
};

export const parseString: Parser<string> = (text) => ({ value: text });

export const parseTime: Parser<Date> = (text) => {
  const value = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(value.getTime())) return { value };
  return { problem: `'${text}' is not a time such as 2026-05-01T03:00:00Z` };
};

/** Parses a timestamp, or an age such as 7d, which means seven days before now. */
export const parseSince: Parser<Date> = (text, nowMs) => {
  const age = parseAge(text, nowMs);
  if ('value' in age) return { value: new Date(nowMs - age.value) };
  const time = parseTime(text, nowMs);
  if ('value' in time) return time;
  return { problem: `'${text}' is neither an age such as 12h, 7d or 8w, nor a time in ISO 8601` };
};
