// Where objects are: s3://bucket/key, and s3://bucket/glob.

import { isDynamicPattern } from 'tinyglobby';
import { nameMatcher } from '../name-matcher.ts';

/** What a location says. An exclusion names what the other locations of its table leave out. */
export interface S3Location {
  /** As it was written. */
  readonly text: string;
  readonly bucket: string;
  /** As it was written: a key, or a glob over keys. */
  readonly key: string;
  readonly isGlob: boolean;
  /** The glob. */
  readonly pattern: string;
  readonly isExclusion: boolean;
}

const shape = /^(!?)s3:\/\/([^/]*)(?:\/(.*))?$/is;

export const readLocation = (text: string): S3Location => {
  const [, mark, bucket = '', key = ''] = shape.exec(text)!;
  // An exclamation mark before a parenthesis is syntax; another one at the beginning would match all other keys.
  const pattern = key.replace(/^!(?!\()/, '\\!');
  const isGlob = isDynamicPattern(pattern);
  return { text, bucket, key, isGlob, pattern, isExclusion: mark === '!' };
};

/** The bucket and key of an object as the ledger has it. */
export const objectAt = (location: string): { readonly bucket: string; readonly key: string } => {
  const [, , bucket = '', key = ''] = shape.exec(location)!;
  return { bucket, key };
};

export const locationOf = (bucket: string, key: string): string => `s3://${bucket}/${key}`;

/** Whether a URL, and the ledger, can hold a key: a URL resolves dots, and neither takes half of a character. */
export const isRequestable = (key: string): boolean =>
  key.isWellFormed() && !key.includes('\0') && key.split('/').every((part) => part !== '.' && part !== '..');

/** The bucket of any text; undefined: it names none. */
export const bucketIn = (text: string): string | undefined => shape.exec(text)?.[2];

/** What all keys that a glob matches begin with: no others are listed. */
export const literalPrefix = (glob: string): string => {
  const magic = glob.search(/[*?[{(\\]|[!+@](?=\()/);
  return magic === -1 ? glob : glob.slice(0, magic);
};

/** Tells the keys that a location names. Globs are those of local files: a star matches no slash, and no dot at the beginning of a name. */
export const keyMatcher = ({ key: named, pattern, isGlob }: S3Location): ((key: string) => boolean) => {
  if (!isGlob) return (key) => key === named;
  const matches = nameMatcher(pattern);
  return (key) => key === named || matches(key);
};
