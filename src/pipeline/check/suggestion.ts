// What a message says after a name that is not known: what was probably meant, or what is known.

import { nearest } from '../../nearest.ts';

/** '; did you mean `x`?', or the whole list of what is known when nothing is near. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const meant = nearest(name, known);
  if (meant !== undefined) return `; did you mean \`${meant}\`?`;
  return known.length > 0 ? `; known: ${known.join(', ')}` : '';
};
