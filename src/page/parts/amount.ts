// Percentages, which only the page shows.

/** Shows a percentage; 100 % only if the part is the whole. */
export const share = (part: number, whole: number): string => {
  if (whole <= 0) return '–';
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 1 ? '< 1 %' : `${part < whole ? Math.min(99, Math.round(percent)) : 100} %`;
};
