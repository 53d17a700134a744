// S3, and other stores with its interface, as a source. Objects are read as streams.

import { readBytes } from '../../../core/limits.ts';
import type { OptionRule, Source } from '../contract.ts';
import type { S3Options } from './declared.ts';
import { contentIn, isListedVersion } from './version.ts';

/** Imported only for locations of S3, because it takes time to load. */
const objects = () => import('./objects.ts');

const text: OptionRule = { must: 'a text', holds: (value) => typeof value === 'string' && value !== '' };
const flag: OptionRule = { must: 'true or false', holds: (value) => typeof value === 'boolean' };

const options: Readonly<Record<keyof S3Options, OptionRule>> = {
  endpoint: {
    must: 'the http or https URL of a server, without a query',
    holds: (value) =>
      typeof value === 'string' && /^https?:\/\/[^?#@\s]+$/i.test(value) && URL.canParse(value),
  },
  region: {
    must: "the name of a region, such as 'eu-central-1'",
    holds: (value) => typeof value === 'string' && /^[a-z0-9-]{2,40}$/.test(value),
  },
  profile: { ...text, must: 'the name of a profile in ~/.aws/config or ~/.aws/credentials' },
  anonymous: flag,
  requesterPays: flag,
};

/** Other servers than AWS allow longer names and capitals. */
const bucketName = /^[a-z0-9][a-z0-9._-]{1,253}[a-z0-9]$/i;

const problem = (location: string): string | undefined => {
  const [, bucket = '', key = ''] = /^!?s3:\/\/([^/]*)\/?(.*)$/is.exec(location)!;
  if (!bucketName.test(bucket)) return 'must be s3://bucket/key, in which only the key may be a glob';
  if (key === '' || key.endsWith('/'))
    return 'names a bucket or a folder; name its objects: s3://bucket/folder/*.csv';
  return undefined;
};

export const s3: Source = {
  name: 's3',
  matches: (location) => /^!?s3:\/\//i.test(location),
  problem,
  options,
  async *list(listing, access) {
    yield* (await objects()).list(listing, access);
  },
  isVersion: isListedVersion,
  // Moving an object copies it, and only its content stays the same.
  identityOf: contentIn,
  contentOf: contentIn,
  look: async (file, access) => (await objects()).look(file, access),
  isSeekable: false,
  isShared: true,
  async *open(file, access, start, end, blockBytes = readBytes) {
    yield* (await objects()).open(file, access, start, end, blockBytes);
  },
};
