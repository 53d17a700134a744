// Local files as a source: paths and globs.

import { messageOf } from '../../core/errors/errors.ts';
import type { Listed, Listing, SeenVersion, Source } from './contract.ts';
import { lookAtFile, readRange } from './read-file.ts';

const isUrl = /^!?(?:[a-z][a-z0-9+.-]*:\/\/|file:)/i;

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
  return store?.problem ?? 'is a URL of an unsupported kind; name files of this machine by their paths';
};

/** Lists all files first, because several links may lead to one file. */
async function* list(listing: Listing): AsyncGenerator<Listed, void> {
  // Imported only here, because loading threads open files and never list them.
  const { listFiles } = await import('./list-files.ts');
  const files = (await listFiles(listing)).toReversed();
  // Forgets each file: there may be 100,000 of them.
  while (files.length > 0) yield files.pop()!;
}

/** Some file systems keep times in steps of 2 s: another change in a step may leave no trace. */
const timeStepMs = 2_000;

const isVersion = (version: string, { fingerprint, seenAt }: SeenVersion): boolean => {
  const [, mtimeNs] = version.split(':');
  return Number(mtimeNs) / 1e6 + timeStepMs < seenAt.getTime() && fingerprint.startsWith(`${version}:`);
};

/** Leaves out the modification time, which differs in a copy. */
const contentOf = (fingerprint: string): string => {
  const [size, , sample] = fingerprint.split(':');
  return `${size}:${sample}`;
};

const problemHere: Source['problemHere'] = async ({ location, fingerprint }) => {
  try {
    const found = await lookAtFile(location);
    if (contentOf(found.fingerprint) === contentOf(fingerprint)) return undefined;
    return 'the file under this path has other contents than on the host that planned the run';
  } catch (error) {
    return messageOf(error);
  }
};

export const localFiles: Source = {
  name: 'file',
  matches: () => true,
  problem,
  options: {},
  list,
  writtenAt: (version) => Number(version.split(':')[1]) / 1e6,
  isVersion,
  identityOf: (fingerprint) => fingerprint,
  contentOf,
  look: ({ location }) => lookAtFile(location),
  problemHere,
  isSeekable: true,
  isShared: true,
  open: (file, _access, start, end, blockBytes) => readRange(file, start, end, blockBytes),
};
