// The suggestion after an unknown name: what was probably meant, or the known names.

import { nearest } from '../../nearest.ts';

/** '; did you mean `x`?', or the whole list of what is known when nothing is near. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const meant = nearest(name, known);
  if (meant !== undefined) return `; did you mean \`${meant}\`?`;
  return known.length > 0 ? `; known: ${known.join(', ')}` : '';
};
