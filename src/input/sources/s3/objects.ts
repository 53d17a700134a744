// Objects of S3 as files: listed, looked at and read through one client for each table's declaration.

import type { SourceSpec } from '../../../core/declaration/declaration.ts';
import { EtlError } from '../../../core/errors/errors.ts';
import { fingerprintSampleBytes } from '../../../core/limits.ts';
import type { Access, FileState, KnownFile, Listed, Listing, NamedFile } from '../contract.ts';
import { headOf } from '../http/request.ts';
import { contentRangeOf, totalOf } from '../http/version.ts';
import { inBlocks, Passing, readResuming, withTries, type RangeAnswer } from '../resume.ts';
import { createClient, S3Refusal, type S3Client } from './client.ts';
import { listObjects } from './list-objects.ts';
import { objectAt, readLocation } from './location.ts';
import { errorFor } from './refusals.ts';
import { patience, settingsOf } from './settings.ts';
import { checkVersion, etagIn, stateOf } from './version.ts';

/** Credentials and regions are found once for a table, and forgotten with its declaration. */
const clients = new WeakMap<SourceSpec, Promise<S3Client>>();

const clientOf = ({ declared }: Access): Promise<S3Client> => {
  const known = clients.get(declared);
  if (known !== undefined) return known;
  const opening = settingsOf(declared.options, process.env).then(createClient);
  clients.set(declared, opening);
  opening.catch(() => clients.delete(declared));
  return opening;
};

/** Does something with the client; a refusal, of the server or of the search for credentials, becomes the error of the file. */
const withClient = async <T>(
  file: NamedFile,
  access: Access,
  work: (client: S3Client) => Promise<T>,
): Promise<T> => {
  try {
    return await work(await clientOf(access));
  } catch (thrown) {
    throw errorFor(file, thrown);
  }
};

export async function* list(listing: Listing, access: Access): AsyncGenerator<Listed, void> {
  const { table, locations } = listing;
  const whole = { table, name: locations.join(', '), location: locations[0]! };
  try {
    yield* listObjects(locations.map(readLocation), await clientOf(access), listing, access);
  } catch (thrown) {
    throw errorFor(whole, thrown);
  }
}

const lookOnce = async (
  client: S3Client,
  file: NamedFile,
  { signal }: Access,
): Promise<FileState & { readonly head: Buffer }> => {
  const asked = { file, ...objectAt(file.location), signal };
  const headers = { range: `bytes=0-${fingerprintSampleBytes - 1}` };
  const answer = await client.send({ ...asked, headers }).catch((thrown: unknown) => {
    // An object without bytes has no range of them.
    if (thrown instanceof S3Refusal && thrown.status === 416) return client.send(asked);
    throw thrown;
  });
  try {
    // Without its size an object would look empty, and one that was cut off whole.
    if (totalOf(answer.status, answer.headers) === undefined)
      throw new EtlError('ETL_SOURCE_FORMAT', {
        table: file.table,
        file: file.name,
        problem: 'is sent without its size',
        hint: 'Its server probably decompresses it on the way, as Google Cloud Storage does: remove Content-Encoding from its metadata. What is stored is decompressed here.',
      });
    return { ...stateOf(answer), head: await headOf(answer) };
  } finally {
    answer.close();
  }
};

/** One request tells an object's size, its version and its first bytes. */
export const look = (file: NamedFile, access: Access): ReturnType<typeof lookOnce> =>
  withClient(file, access, (client) =>
    withTries(file, patience.look, access.signal, () => lookOnce(client, file, access)),
  );

/** Asks for the bytes from one on, of the version that was planned. */
const askFrom = (file: KnownFile, access: Access, from: number): Promise<RangeAnswer> =>
  withClient(file, access, async (client) => {
    const headers = {
      'if-match': etagIn(file.fingerprint),
      ...(from > 0 && { range: `bytes=${from}-` }),
    };
    const { signal } = access;
    const answer = await client.send({
      file,
      ...objectAt(file.location),
      headers,
      signal,
      reusesMemory: true,
    });
    try {
      checkVersion(file, answer);
      const first = answer.status === 206 ? contentRangeOf(answer.headers).from : 0;
      if (first === undefined || first > from)
        throw new Passing(`the server answers with other bytes than those from ${from} on`);
      return { from: first, total: totalOf(answer.status, answer.headers), body: answer.body };
    } catch (error) {
      answer.close();
      throw error;
    }
  });

export const open = (
  file: KnownFile,
  access: Access,
  start: number,
  end: number,
  blockBytes: number,
): AsyncIterable<Buffer> => {
  const stop = Math.min(end, file.bytes);
  const stream = (signal: AbortSignal): AsyncIterable<Buffer> =>
    readResuming({
      file,
      start,
      end: stop,
      ask: (from) => askFrom(file, { ...access, signal }, from),
      patience: patience.read,
      signal,
    });
  // A small object takes no memory of a large one's block.
  return inBlocks(stream, Math.max(1, Math.min(blockBytes, stop - start)), access.signal);
};
