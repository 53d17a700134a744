// Names what the declaration of a column changes in the texts of files.

import { usualPivot } from '../format/types/date-parts.ts';
import { hasShortYear } from '../format/types/date-pattern.ts';
import type { Typed } from './write-back.ts';

export const blanksAround = 'blanks around values';
export const blanksAlone = 'fields of blanks alone, which become null';
export const nullWords = 'words that become null';

/** Returns what a type changes in a text. `becomes`: what is written back. */
export const whatChanges = ({ type }: Typed, text: string): string => {
  if (type === 'timestamptz') return 'offsets (the instant is kept, in UTC)';
  if (type === 'uuid') return 'capitals and braces';
  if (type === 'date' || type.startsWith('time')) return 'the forms of dates and times';
  if (text.startsWith('+')) return 'plus signs';
  if (/^[-.\d]+e/i.test(text)) return 'exponents';
  if (/^-?0\d/.test(text)) return 'leading zeros';
  if (/^-0[.,]?0*$/.test(text)) return 'signs of zeros';
  if (/^-?[.,]|[.,]$/.test(text)) return 'numbers without a digit before or after the point';
  return `texts that ${type} writes differently`;
};

export const hasShortYears = ({ options }: Typed): boolean =>
  [options['format'] as string | readonly string[] | undefined]
    .flat()
    .some((format) => format !== undefined && hasShortYear(format));

const twoDigits = (year: number): string => String(year).padStart(2, '0');

/** Says of years of two digits in which century they are. */
export const centuries = ({ options }: Typed): string => {
  const pivot = Number(options['pivot'] ?? usualPivot);
  const [early, late] = [twoDigits(pivot), twoDigits(pivot - 1)];
  return `centuries: years ${early} to 99 become 19${early} to 1999, and 00 to ${late} become 2000 to 20${late}`;
};
