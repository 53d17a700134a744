// Lists the objects that the locations of a table name.

import { EtlError } from '../../../core/errors/errors.ts';
import type { Access, Listed, Listing } from '../contract.ts';
import type { S3Client } from './client.ts';
import { listKeys, type ListedObject } from './list-keys.ts';
import {
  bucketIn,
  isRequestable,
  keyMatcher,
  literalPrefix,
  locationOf,
  type S3Location,
} from './location.ts';
import { patience } from './settings.ts';

/** Refuses a bucket that a parameter chose. Errors: ETL_SOURCE_OUTSIDE. */
const confine = ({ text, bucket }: S3Location, { table, varied }: Listing): void => {
  if (varied?.get(text)?.some((one) => bucketIn(one) !== bucket) === true)
    throw new EtlError('ETL_SOURCE_OUTSIDE', {
      table,
      file: text,
      base: 'the bucket that the pipeline names',
    });
};

const requestable = (table: string, bucket: string, key: string): string => {
  if (isRequestable(key)) return key;
  throw new EtlError('ETL_SOURCE_IRREGULAR', {
    table,
    file: locationOf(bucket, key),
    what: 'an object whose key no URL can hold',
    hint: 'Copy it to a key without . or .. between slashes, or leave it out of the glob.',
  });
};

/** Yields the objects of a location in the server's order, without the empty objects of folders. */
async function* objectsOf(
  client: S3Client,
  wanted: S3Location,
  table: string,
  { signal }: Access,
): AsyncGenerator<ListedObject, void> {
  const { bucket, key, text } = wanted;
  const asked = { file: { table, name: text, location: text }, bucket, signal };
  const isThere = async (): Promise<boolean> => {
    for await (const first of listKeys(client, { ...asked, prefix: key, most: 1 }, patience.look))
      return first.key === key;
    return false;
  };
  // The key of an existing object is not a glob. Asked only for keys with brackets: few keys have a
  // star.
  if (!wanted.isGlob || (/[[({]/.test(key) && (await isThere()))) {
    yield { key };
    return;
  }
  const matches = keyMatcher(wanted);
  const prefix = literalPrefix(wanted.pattern);
  for await (const listed of listKeys(client, { ...asked, prefix }, patience.look))
    if (matches(listed.key) && !listed.key.endsWith('/')) yield listed;
}

/**
 * Lists the objects of a table's locations, each once. Memory: one page of a listing; with several
 * locations, the names of all objects.
 */
export async function* listObjects(
  locations: readonly S3Location[],
  client: S3Client,
  listing: Listing,
  access: Access,
): AsyncGenerator<Listed, void> {
  const { table } = listing;
  for (const location of locations) confine(location, listing);
  const excluded = locations
    .filter(({ isExclusion }) => isExclusion)
    .map((location) => ({ bucket: location.bucket, matches: keyMatcher(location) }));
  const wanted = locations.filter(({ isExclusion }) => !isExclusion);
  const listed = new Set<string>();
  let hasAny = false;
  const missing = (glob: string): EtlError =>
    new EtlError('ETL_SOURCE_NOT_FOUND', { table, glob, directory: wanted[0]?.bucket });
  for (const each of wanted) {
    let isFound = false;
    for await (const { key, ...version } of objectsOf(client, each, table, access)) {
      isFound = true;
      const location = locationOf(each.bucket, requestable(table, each.bucket, key));
      const isExcluded = excluded.some(({ bucket, matches }) => bucket === each.bucket && matches(key));
      if (isExcluded || listed.has(location)) continue;
      if (wanted.length > 1) listed.add(location);
      hasAny = true;
      yield { location, name: location, ...version };
    }
    if (!isFound) throw missing(each.text);
  }
  if (!hasAny) throw missing(listing.locations.join(', '));
}
