// Globs over names such as keys of S3. As for files, a star matches neither a slash nor a dot at
// the beginning of a name.

import picomatch from 'picomatch';

export const nameMatcher = (written: string): ((name: string) => boolean) => {
  // `!(` is glob syntax. A plain `!` would match all other names. With the flag s, stars also match
  // line breaks.
  const matches = picomatch(written.replace(/^!(?!\()/, '\\!'), { posix: true, flags: 's' });
  return (name) => name === written || matches(name);
};
