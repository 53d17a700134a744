// Lists the objects that the locations of a table name.

import { EtlError } from '../../../core/errors/errors.ts';
import type { Access, Listed, Listing } from '../contract.ts';
import { type S3Client, S3Refusal, textOf, type S3Request } from './client.ts';
import {
  bucketIn,
  isRequestable,
  keyMatcher,
  literalPrefix,
  locationOf,
  type S3Location,
} from './location.ts';
import { patience } from './settings.ts';
import { isUnfinished } from '../name-matcher.ts';
import { withTries, type Patience } from '../resume.ts';
import { elementAt, parseXml, textAt } from './xml.ts';

/** In an escaped key, a plus sign is a blank. */
const decodeKey = (key: string, encoding: string | undefined): string =>
  encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;

interface ListedObject {
  readonly key: string;
  readonly version?: string;
}

interface Page {
  readonly objects: readonly ListedObject[];
  readonly token: string | undefined;
}

const readPage = (text: string, token: string | undefined): Page => {
  const page = elementAt(parseXml(text), 'ListBucketResult');
  const isTruncated = textAt(page, 'IsTruncated');
  if (isTruncated === undefined) throw new S3Refusal(200, 'no list of objects');
  const encoding = textAt(page, 'EncodingType');
  const contents = (elementAt(page, 'Contents') ?? []) as readonly unknown[];
  const objects = contents.map((object) => {
    const [size, etag] = [textAt(object, 'Size'), textAt(object, 'ETag')];
    const key = decodeKey(textAt(object, 'Key') ?? '', encoding);
    return size === undefined || !etag ? { key } : { key, version: `${size}:${etag}` };
  });
  if (isTruncated !== 'true') return { objects, token: undefined };
  const next = textAt(page, 'NextContinuationToken');
  // Without a new token, the next request would repeat this page, or objects would be missing.
  if (next === undefined || next === token) throw new S3Refusal(200, 'a list that does not go on');
  return { objects, token: next };
};

interface KeyListing extends Pick<S3Request, 'file' | 'bucket' | 'signal'> {
  readonly prefix: string;
  readonly most?: number;
}

/** Lists keys that begin with `prefix`; on AWS, in the order of their bytes. Memory: one page. */
export async function* listKeys(
  client: S3Client,
  { prefix, most = 1_000, ...asked }: KeyListing,
  tries: Patience,
): AsyncGenerator<ListedObject, void> {
  let token: string | undefined;
  do {
    const query = {
      'encoding-type': 'url',
      'list-type': '2',
      'max-keys': String(most),
      prefix,
      ...(token === undefined ? {} : { 'continuation-token': token }),
    };
    const text = await withTries(asked.file, tries, asked.signal, async () =>
      textOf(await client.send({ ...asked, query })),
    );
    const page = readPage(text, token);
    yield* page.objects;
    ({ token } = page);
  } while (token !== undefined);
}

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
  // The key of an existing object is not a glob. Few keys have a star, so only keys with brackets
  // are looked up.
  if (!wanted.isGlob || (/[[({]/.test(key) && (await isThere()))) {
    yield { key };
    return;
  }
  const matches = keyMatcher(wanted);
  const prefix = literalPrefix(wanted.pattern);
  for await (const listed of listKeys(client, { ...asked, prefix }, patience.look))
    if (matches(listed.key) && !listed.key.endsWith('/') && !isUnfinished(listed.key, key)) yield listed;
}

/** Lists each object once. Memory: one page; with several locations, the names of all objects. */
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
