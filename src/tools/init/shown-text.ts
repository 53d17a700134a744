// Formats a text of a file for comments and messages.

import { inQuotes } from '../../core/wording.ts';

const shownMax = 24;

/** Returns the text in quotes, on one line, cut to 24 characters. */
export const shownText = (text: string): string =>
  inQuotes(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
