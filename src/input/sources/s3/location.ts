// Parses locations of objects: s3://bucket/key, and s3://bucket/glob.

import { isDynamicPattern } from 'tinyglobby';
import { nameMatcher } from '../name-matcher.ts';

export interface S3Location {
  readonly text: string;
  readonly bucket: string;
  readonly key: string;
  readonly isGlob: boolean;
  readonly pattern: string;
  readonly isExclusion: boolean;
}

const shape = /^(!?)s3:\/\/([^/]*)(?:\/(.*))?$/is;

export const readLocation = (text: string): S3Location => {
  const [, mark, bucket = '', key = ''] = shape.exec(text)!;
  // `!(` is glob syntax. A plain `!` would match all other keys.
  const pattern = key.replace(/^!(?!\()/, '\\!');
  const isGlob = isDynamicPattern(pattern);
  return { text, bucket, key, isGlob, pattern, isExclusion: mark === '!' };
};

export const objectAt = (location: string): { readonly bucket: string; readonly key: string } => {
  const [, , bucket = '', key = ''] = shape.exec(location)!;
  return { bucket, key };
};

export const locationOf = (bucket: string, key: string): string => `s3://${bucket}/${key}`;

/** False for keys that a URL cannot have (parts `.` and `..`), or that the ledger cannot store. */
export const isRequestable = (key: string): boolean =>
  key.isWellFormed() && !key.includes('\0') && key.split('/').every((part) => part !== '.' && part !== '..');

export const bucketIn = (text: string): string | undefined => shape.exec(text)?.[2];

export const literalPrefix = (glob: string): string => {
  const magic = glob.search(/[*?[{(\\]|[!+@](?=\()/);
  return magic === -1 ? glob : glob.slice(0, magic);
};

export const keyMatcher = ({ key: named, pattern, isGlob }: S3Location): ((key: string) => boolean) => {
  if (!isGlob) return (key) => key === named;
  const matches = nameMatcher(pattern);
  return (key) => key === named || matches(key);
};
