// A text of a file as comments and messages show it.

import { inQuotes } from '../wording.ts';

const shownMax = 24;

/** In quotes, short, on one line. */
export const shownText = (text: string): string =>
  inQuotes(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
