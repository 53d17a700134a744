// Random values that depend on a seed alone, so that the same arguments give the same files.

/** Numbers in [0, 1). */
export type Random = () => number;

/** mulberry32. */
export const randomFrom = (seed: number): Random => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const shuffled = <T>(values: readonly T[], random: Random): readonly T[] => {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
};

/** A whole number in [from, to]. */
export const between = (random: Random, from: number, to: number): number =>
  from + Math.floor(random() * (to - from + 1));

export const pick = <T>(random: Random, values: readonly T[]): T =>
  values[between(random, 0, values.length - 1)]!;

/** A number whose small values are frequent and whose large ones are rare, as amounts and lengths are. */
export const skewed = (random: Random, from: number, to: number): number =>
  from + Math.floor(random() ** 3 * (to - from + 1));

/** `value` in a share of the cases, else an empty field. */
export const sometimes = (random: Random, share: number, value: () => string): string =>
  random() < share ? value() : '';

export const twoDigits = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** Hundredths as a decimal with two places. */
export const decimal = (hundredths: number): string => {
  const digits = Math.abs(hundredths);
  return `${hundredths < 0 ? '-' : ''}${Math.floor(digits / 100)}.${twoDigits(digits % 100)}`;
};

const hexOf = (random: Random): string =>
  Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');

/** A random UUID, version 4. */
export const uuid = (random: Random): string => {
  const [a, b, c, d] = [hexOf(random), hexOf(random), hexOf(random), hexOf(random)];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${'89ab'[c.charCodeAt(0) & 3]}${c.slice(1, 4)}-${c.slice(4)}${d}`;
};

/** A moment of these years in UTC; the same parts for every zone of the machine. */
export const moment = (random: Random, firstYear: number, lastYear: number): Date => {
  const first = Date.UTC(firstYear, 0, 1);
  return new Date(first + Math.floor(random() * (Date.UTC(lastYear + 1, 0, 1) - first)));
};

/** `YYYY-MM-DD` */
export const isoDay = (at: Date): string => at.toISOString().slice(0, 10);

/** `YYYY-MM-DD HH:mm:ss` */
export const isoSecond = (at: Date, separator = ' '): string => {
  const text = at.toISOString();
  return `${text.slice(0, 10)}${separator}${text.slice(11, 19)}`;
};

/** `text` as a field: quoted where it has to be. */
export const quoted = (text: string): string =>
  /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const words =
  'the of and to in is was for on as with by at from order please leave parcel door back neighbour before after delivery gift wrapped fragile call first ring twice late morning evening left right side garage invoice attached'.split(
    ' ',
  );
const wordsBeyond = [
  'für',
  'Straße',
  'Größe',
  'não',
  'Señor',
  'déjà',
  'vu',
  'Ærø',
  'Łódź',
  '東京',
  'Москва',
  'naïve',
  '–',
  '€',
];

/** A text of some words; a share of the texts has one beyond ASCII, a share a comma. */
export const phrase = (random: Random, most: number): string => {
  const chosen = Array.from({ length: skewed(random, 1, most) }, () => pick(random, words));
  if (random() < 0.05) chosen[between(random, 0, chosen.length - 1)] = pick(random, wordsBeyond);
  return chosen.join(random() < 0.08 ? ', ' : ' ');
};

const nameWords =
  'The A Of And In Night House Love Last Day Great Blue River Stone Little Black King Lake Garden Return Saint North West Old New Secret World Man Lady Dark City Mountain Bay Creek Hill Road Winter Summer Part Two Lost Golden Star Children War Heart Dreams Point Island Valley Spring'.split(
    ' ',
  );

/** A name of some words in title case: some with accents, a few in other scripts or with quotes. */
export const title = (random: Random, most: number): string => {
  const chosen = Array.from({ length: skewed(random, 1, most) + 1 }, () => pick(random, nameWords));
  const share = random();
  if (share < 0.08) chosen[0] = pick(random, wordsBeyond);
  if (share > 0.99) chosen[0] = `"${chosen[0]}"`;
  return chosen.slice(0, most).join(' ');
};
