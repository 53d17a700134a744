// Globs over names that are in no directory, such as keys of S3. As for files, a star matches
// neither a slash nor a dot at the beginning of a name.

import picomatch from 'picomatch';

/** Returns a function that is true for the name itself, and for names that match it as a glob. */
export const nameMatcher = (written: string): ((name: string) => boolean) => {
  // `!(` is glob syntax. A plain `!` is escaped: it would match all other names. With the flag s,
  // stars also match line breaks.
  const matches = picomatch(written.replace(/^!(?!\()/, '\\!'), { posix: true, flags: 's' });
  return (name) => name === written || matches(name);
};
