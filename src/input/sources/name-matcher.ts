// Globs over names such as keys of S3. As for files, a star matches neither a slash nor a dot at
// the beginning of a name.

import picomatch from 'picomatch';

/** Endings and beginnings that programs give to files while they write them. */
const unfinishedEnds = ['.tmp', '.part', '.filepart', '.crdownload', '~'];
const unfinishedStarts = ['.', '~$'];

/** True for the name of a file that a program is writing, unless the last part of the glob names it. */
export const isUnfinished = (location: string, glob: string): boolean => {
  const [name, pattern] = [location, glob].map((text) => text.slice(text.lastIndexOf('/') + 1)) as [
    string,
    string,
  ];
  return (
    unfinishedEnds.some((end) => name.endsWith(end) && !pattern.includes(end)) ||
    unfinishedStarts.some((start) => name.startsWith(start) && !pattern.startsWith(start))
  );
};

export const nameMatcher = (written: string): ((name: string) => boolean) => {
  // `!(` is glob syntax. A plain `!` would match all other names. With the flag s, stars also match
  // line breaks.
  const matches = picomatch(written.replace(/^!(?!\()/, '\\!'), { posix: true, flags: 's' });
  return (name) => name === written || matches(name);
};
