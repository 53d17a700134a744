// Globs over names such as keys of S3. As for files, a star matches neither a slash nor a dot at
// the beginning of a name.

import picomatch from 'picomatch';

/** What programs add to the names of files while they write them. */
const unfinished = /\.(tmp|part|filepart|crdownload)$|~$|^~\$/;

/**
 * True for the name of a file that a program is writing, unless the last part of the glob names it.
 * No glob matches a name that begins with a dot, unless it names the dot.
 */
export const isUnfinished = (location: string, glob: string): boolean => {
  const [name, pattern] = [location, glob].map((text) => text.slice(text.lastIndexOf('/') + 1));
  const found = unfinished.exec(name!);
  if (found === null) return false;
  const [, ending] = found;
  return ending === undefined ? !pattern!.includes('~') : !new RegExp(`[.{,(|]${ending}`).test(pattern!);
};

export const nameMatcher = (written: string): ((name: string) => boolean) => {
  // `!(` is glob syntax. A plain `!` would match all other names. With the flag s, stars also match
  // line breaks.
  const matches = picomatch(written.replace(/^!(?!\()/, '\\!'), { posix: true, flags: 's' });
  return (name) => name === written || matches(name);
};
