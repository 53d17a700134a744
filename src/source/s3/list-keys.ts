// Lists the keys of a bucket below a prefix, page by page.

import { withTries, type Patience } from '../resume.ts';
import { S3Refusal, textOf, type S3Client, type S3Request } from './client.ts';
import { elementAt, parseXml, textAt } from './xml.ts';

/** A server that does not escape keys does not say that it does. A plus sign is a blank. */
const decodeKey = (key: string, encoding: string | undefined): string =>
  encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;

interface Page {
  readonly keys: readonly string[];
  /** Names the next page. */
  readonly token: string | undefined;
}

const readPage = (text: string, token: string | undefined): Page => {
  const page = elementAt(parseXml(text), 'ListBucketResult');
  const isTruncated = textAt(page, 'IsTruncated');
  if (isTruncated === undefined) throw new S3Refusal(200, 'no list of objects');
  const encoding = textAt(page, 'EncodingType');
  const objects = (elementAt(page, 'Contents') ?? []) as readonly unknown[];
  const keys = objects.map((object) => decodeKey(textAt(object, 'Key') ?? '', encoding));
  if (isTruncated !== 'true') return { keys, token: undefined };
  const next = textAt(page, 'NextContinuationToken');
  // The same page for ever, or a table without the objects of the others.
  if (next === undefined || next === token) throw new S3Refusal(200, 'a list that does not go on');
  return { keys, token: next };
};

interface Listing extends Pick<S3Request, 'file' | 'bucket' | 'signal'> {
  readonly prefix: string;
  /** Keys of a page: 1000 unless told otherwise. */
  readonly most?: number;
}

/** In the server's order, which is that of the keys' bytes on AWS. Memory: one page. Throws as `send` does, and ETL_SOURCE_UNREACHABLE. */
export async function* listKeys(
  client: S3Client,
  { prefix, most = 1_000, ...asked }: Listing,
  patience: Patience,
): AsyncGenerator<string, void> {
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
    yield* page.keys;
    ({ token } = page);
  } while (token !== undefined);
}
