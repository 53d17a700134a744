// Finds the known name that a misspelled name probably means.

/** Returns the least number of edits: insert, delete or replace a character, or swap neighbours. */
const editDistance = (from: string, to: string): number => {
  const rows: number[][] = [];
  for (let i = 0; i <= from.length; i += 1) {
    rows.push([]);
    for (let j = 0; j <= to.length; j += 1) {
      const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
      const isSame = from[i - 1] === to[j - 1];
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      rows[i]![j] =
        i === 0 || j === 0
          ? i + j
          : Math.min(
              at(i - 1, j) + 1,
              at(i, j - 1) + 1,
              at(i - 1, j - 1) + (isSame ? 0 : 1),
              isSwap ? at(i - 2, j - 2) + 1 : Infinity,
            );
    }
  }
  return rows[from.length]![to.length]!;
};

/** Returns the most similar known name; undefined if more than a third of each name differs. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const wanted = name.toLowerCase();
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(name.length, candidate.length) / 3)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
};

/** Returns '; did you mean `x`?', or if no name is similar, the list of all known names. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const meant = nearest(name, known);
  if (meant !== undefined) return `; did you mean \`${meant}\`?`;
  return known.length > 0 ? `; known: ${known.join(', ')}` : '';
};
