// Files by chance for `etl init`: columns of texts that are easily changed by a type, a few records each.

import type { Chance } from './seeded.ts';

type Column = (chance: Chance) => () => string;

const two = (value: number): string => String(value).padStart(2, '0');
const oneOf =
  (...texts: readonly string[]): Column =>
  (chance) =>
  () =>
    chance.pick(texts);
const mostly =
  (column: Column, ...odd: readonly string[]): Column =>
  (chance) => {
    const usual = column(chance);
    return () => (chance.between(1, 6) === 1 ? chance.pick(odd) : usual());
  };
const digits = (chance: Chance, least: number, most: number): string =>
  Array.from({ length: chance.between(least, most) }, () => chance.between(0, 9)).join('');
const whole: Column = (chance) => () => String(chance.between(-3, 2) * 10 ** chance.between(0, 9));
const decimal =
  (point: string, least: number, most: number): Column =>
  (chance) =>
  () =>
    `${chance.between(-20, 20)}${point}${digits(chance, least, most)}`;
const groups =
  (separator: string, point: string): Column =>
  (chance) =>
  () =>
    `${chance.between(1, 999)}${chance.pick(['', `${separator}234`, `${separator}000${separator}567`])}${chance.pick(['', `${point}50`])}`;
const date =
  (write: (year: number, month: number, day: number) => string): Column =>
  (chance) =>
  () =>
    write(chance.between(1950, 2068), chance.between(1, 12), chance.between(1, 28));
const iso = date((year, month, day) => `${year}-${two(month)}-${two(day)}`);
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const clock = (chance: Chance): string => `${two(chance.between(0, 23))}:${two(chance.between(0, 59))}`;
const at =
  (separator: string, end: (chance: Chance) => string): Column =>
  (chance) => {
    const day = iso(chance);
    return () => `${day()}${separator}${clock(chance)}${end(chance)}`;
  };
const words: Column = (chance) => () => chance.pick(['Ann', 'Zoë', 'New York', 'a,b', 'say "x"', '', 'NA']);

/** Columns by what they have. Each text of one is of one kind, with the exceptions of real files. */
const kinds: Readonly<Record<string, Column>> = {
  words,
  whole,
  codes: (chance) => () => digits(chance, 3, 5),
  plus: (chance) => () => `${chance.pick(['+', '', '-'])}${chance.between(1, 99)}`,
  phone: (chance) => () => `+49${digits(chance, 9, 9)}`,
  sku: (chance) => () => `${chance.between(10, 99)}E${chance.between(1, 9)}`,
  science: (chance) => () => `${chance.between(1, 9)}.${digits(chance, 1, 16)}e-0${chance.between(1, 9)}`,
  exponents: mostly(decimal('.', 1, 12), '1e2', '1E+300', '2.50e10'),
  huge: mostly(whole, '9007199254740993', '1e2', '9223372036854775808'),
  ids: (chance) => () => digits(chance, 17, 21),
  amounts: decimal('.', 2, 2),
  mixed: decimal('.', 0, 3),
  versions: oneOf('1.9', '1.10', '1.1', '2.0', '2'),
  bare: oneOf('.5', '-.25', '5.', '1.5', '0.5'),
  zeroes: oneOf('-0', '0', '0.0', '-0.00', '00', '1'),
  comma: decimal(',', 1, 3),
  thousands: groups(',', '.'),
  points: groups('.', ','),
  apostrophes: groups("'", '.'),
  blanks: groups(' ', ','),
  hardBlanks: groups('\u00a0', ','),
  narrow: groups('\u202f', '.'),
  signBehind: oneOf('12-', '5', '3.5-'),
  money: oneOf('$1,234.50', '$3', '€5'),
  percents: oneOf('12.5%', '3 %'),
  padded: mostly(whole, '  73', '5 ', ' ', '\t8'),
  paddedWords: mostly(words, ' x', '  ', '  keep me  '),
  paddedDates: mostly(iso, ' 2024-01-02'),
  nulls: mostly(whole, 'NA', 'NULL', '-', 'n/a', 'unknown', ''),
  missing: mostly(iso, '0000-00-00', ''),
  truth: oneOf('yes', 'no'),
  answers: oneOf('yes', 'no', 'unknown'),
  cases: oneOf('Yes', 'yes', 'no'),
  flags: mostly(oneOf('t', 'f'), 'NULL'),
  bits: oneOf('0', '1'),
  iso,
  slashes: date((year, month, day) => `${month}/${day}/${year}`),
  dots: date((year, month, day) => `${two(day)}.${two(month)}.${year}`),
  loose: date((year, month, day) => `${day % 2 === 0 ? two(day) : day}.${month}.${year}`),
  named: date((year, month, day) =>
    `${two(day)}-${months[month - 1]!.toUpperCase()}-${year % 100}`.replace(/-(\d)$/, '-0$1'),
  ),
  inWords: date((year, _, day) => `September ${day}, ${year}`),
  shortYears: mostly(
    date((year, month, day) => `${month}/${day}/${two(year % 100)}`),
    '01/01/1950',
  ),
  glued: date((year, month, day) => `${year}${two(month)}${two(day)}`),
  times: (chance) => () => clock(chance),
  looseTimes: (chance) => () => `${chance.between(0, 23)}:${two(chance.between(0, 59))}`,
  clocks: (chance) => () =>
    `${chance.between(1, 12)}:${two(chance.between(0, 59))} ${chance.pick(['AM', 'pm'])}`,
  stamps: at(' ', () => ':00'),
  letters: at('T', () => ':00'),
  milliseconds: at('T', (chance) => `:07.${digits(chance, 3, 3)}Z`),
  fractions: at(' ', (chance) => `:07.${digits(chance, 1, 7)}`),
  zones: at(' ', (chance) => chance.pick([':00+01', ':00+00', ':00-05:30'])),
  forms: at(' ', (chance) => chance.pick([':00', '', ':30.5'])),
  midnights: date((year, month, day) => `${year}-${two(month)}-${two(day)} 00:00`),
  uuids: (chance) => () => `5bbe9cb3-6332-4eb0-9cd3-${digits(chance, 12, 12)}`,
  braces: (chance) => () => `{5BBE9CB3-6332-4EB0-9CD3-${digits(chance, 12, 12)}}`,
  objects: oneOf('{"a":1,"a":2}', '{"x": 1.0}', '[]', '{"b":1,"a":12345678901234567890}'),
};

/** A column of two kinds: mostly the first. */
const mixture: Column = (chance) => {
  const [usual, odd] = [0, 1].map(() => chance.pick(Object.values(kinds))(chance));
  const oddOnes = chance.pick([2, 8, 40]);
  return () => (chance.between(1, oddOnes) === 1 ? odd! : usual!)();
};

const columnsMax = 8;

const quoted = (text: string, isAlways: boolean): string =>
  isAlways || /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Returns a file with an id and up to eight columns, named by their kinds and the file. */
export const fileByChance = (chance: Chance, index: number): string => {
  const names = Object.keys(kinds);
  const drawn = [...new Set(Array.from({ length: chance.between(1, columnsMax) }, () => chance.pick(names)))];
  const columns = drawn.map((name) => (chance.between(1, 3) === 1 ? mixture : kinds[name]!)(chance));
  const records = chance.pick([3, 7, 30, 60, 300]);
  const isQuoted = chance.between(0, 3) === 0;
  const lines = Array.from({ length: records }, (_, record) =>
    [`r${record}`, ...columns.map((column) => quoted(column(), isQuoted))].join(','),
  );
  return [`record ${index},${drawn.join(',')}`, ...lines, ''].join('\n');
};
