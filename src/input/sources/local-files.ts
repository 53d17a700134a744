// Local files as a source: paths and globs.

import type { Listed, Listing, SeenVersion, Source } from './contract.ts';
import { fileState, readRange } from './read-file.ts';

/** Known schemes are matched by other sources. */
const isUrl = /^!?(?:[a-z][a-z0-9+.-]*:\/\/|file:)/i;

/** Stores whose own addresses are not read, and how their files are named instead. */
const stores: readonly { readonly address: RegExp; readonly problem: string }[] = [
  {
    address: /^!?gs:/i,
    problem:
      "is an address of Google Cloud Storage, which is read by its S3 interface and an HMAC key: csv('s3://bucket/key', { endpoint: 'https://storage.googleapis.com', region: 'auto' })",
  },
  {
    address: /^!?(?:az|azure|adl|abfss?|wasbs?):/i,
    problem:
      "is an address of Azure Blob Storage, which is read by HTTPS and a SAS token: csv('https://<account>.blob.core.windows.net/<container>/<blob>?<SAS>')",
  },
];

const problem = (location: string): string | undefined => {
  if (/^!?(?:https?|s3):(?!\/\/)/i.test(location)) return 'is no URL: two slashes follow the colon';
  if (!isUrl.test(location)) return undefined;
  const store = stores.find(({ address }) => address.test(location));
  return (
    store?.problem ?? 'is a URL of a kind that is not read; files of this machine are named by their paths'
  );
};

/** Links to one file are found only when all of them are known. */
async function* list(listing: Listing): AsyncGenerator<Listed, void> {
  // Imported only here: loading threads open files, and list none.
  const { listFiles } = await import('./list-files.ts');
  yield* await listFiles(listing);
}

/** File systems count in steps of up to two seconds: a file that was changed just before it was seen may look the same afterwards. */
const timeStepMs = 2_000;

/** By size and time of modification, as rsync and make compare. */
const isVersion = (version: string, { fingerprint, seenAt }: SeenVersion): boolean => {
  const [, mtimeNs] = version.split(':');
  return Number(mtimeNs) / 1e6 + timeStepMs < seenAt.getTime() && fingerprint.startsWith(`${version}:`);
};

/** A copy has another time. */
const contentOf = (fingerprint: string): string => {
  const [size, , sample] = fingerprint.split(':');
  return `${size}:${sample}`;
};

export const localFiles: Source = {
  name: 'file',
  matches: () => true,
  problem,
  options: {},
  list,
  isVersion,
  identityOf: (fingerprint) => fingerprint,
  contentOf,
  look: ({ location }) => fileState(location),
  isSeekable: true,
  isShared: true,
  open: (file, _access, start, end, blockBytes) => readRange(file, start, end, blockBytes),
};
