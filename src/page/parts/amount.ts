// Texts that only the page shows: how long ago, how long until, and percentages.

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** Shows only the largest unit: 40 -> '40 s', 4000 -> '1 h', 200000 -> '2 d'. */
const roughly = (seconds: number): string => {
  const found = units.find(([size]) => seconds >= size);
  return found === undefined ? `${Math.round(seconds)} s` : `${Math.floor(seconds / found[0])} ${found[1]}`;
};

export const ago = (at: Date, now: Date): string => {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  return seconds < 1 ? 'now' : `${roughly(seconds)} ago`;
};

export const until = (at: Date, now: Date): string => {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  return seconds <= 0 ? 'due' : `in ${roughly(seconds)}`;
};

/** Shows a percentage; 100 % only if the part is the whole. */
export const share = (part: number, whole: number): string => {
  if (whole <= 0) return '–';
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 1 ? '< 1 %' : `${part < whole ? Math.min(99, Math.round(percent)) : 100} %`;
};
