// Removes blanks for the dialect's `trim`.

import { SPACE, TAB } from '../../core/characters.ts';

/** Removes blanks and tabs at both ends. Other white space is data. */
export const trimBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && (text.charCodeAt(start) === SPACE || text.charCodeAt(start) === TAB)) start += 1;
  while (end > start && (text.charCodeAt(end - 1) === SPACE || text.charCodeAt(end - 1) === TAB)) end -= 1;
  return end - start === text.length ? text : text.slice(start, end);
};
