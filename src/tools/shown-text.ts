// A text of a file in comments and messages: in quotes, on one line, cut.

import { inQuotes } from '../core/wording.ts';

const shownMax = 24;

export const shownText = (text: string): string =>
  inQuotes(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
