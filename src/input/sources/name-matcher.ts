// Globs over names that no directory has, as those of local files: a star matches no slash, and no dot at the beginning of a name.

import picomatch from 'picomatch';

/** Whether a name is the one that is written, or matches it as a glob. */
export const nameMatcher = (written: string): ((name: string) => boolean) => {
  // Before a parenthesis an exclamation mark is syntax; another one at the beginning would match all other names.
  // A dot of its expressions matches line breaks, too.
  const matches = picomatch(written.replace(/^!(?!\()/, '\\!'), { posix: true, flags: 's' });
  return (name) => name === written || matches(name);
};
