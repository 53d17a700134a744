// Lists the keys of a bucket below a prefix, page by page.

import { withTries, type Patience } from '../resume.ts';
import { S3Refusal, textOf, type S3Client, type S3Request } from './client.ts';
import { elementAt, parseXml, textAt } from './xml.ts';

/** Decodes a key if the server says that it is escaped. A plus sign is a blank. */
const decodeKey = (key: string, encoding: string | undefined): string =>
  encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;

/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  /** For `isListedVersion`; undefined: the server lists no ETag. */
  readonly version?: string;
}

interface Page {
  readonly objects: readonly ListedObject[];
  /** Token of the next page; undefined: the page is the last one. */
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
  // Without a new token, the same page would come forever, or objects would be missing.
  if (next === undefined || next === token) throw new S3Refusal(200, 'a list that does not go on');
  return { objects, token: next };
};

interface Listing extends Pick<S3Request, 'file' | 'bucket' | 'signal'> {
  readonly prefix: string;
  /** Keys of a page. */
  readonly most?: number;
}

/**
 * Yields keys in the server's order, which on AWS is the order of their bytes. Memory: one page.
 * Throws what `send` throws, and ETL_SOURCE_UNREACHABLE.
 */
export async function* listKeys(
  client: S3Client,
  { prefix, most = 1_000, ...asked }: Listing,
  patience: Patience,
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
    const text = await withTries(asked.file, patience, asked.signal, async () =>
      textOf(await client.send({ ...asked, query })),
    );
    const page = readPage(text, token);
    yield* page.objects;
    ({ token } = page);
  } while (token !== undefined);
}
