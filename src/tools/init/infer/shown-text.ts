// Formats a text from a file for comments and messages.

import { inQuotes } from '../../../core/wording.ts';

const shownMax = 24;

/** In quotes, short, on one line. */
export const shownText = (text: string): string =>
  inQuotes(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
