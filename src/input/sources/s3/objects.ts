// Lists, looks at and reads objects of S3, with one client for each table's source.

import type { SourceSpec } from '../../../core/declaration/declaration.ts';
import { EtlError } from '../../../core/errors/errors.ts';
import { fingerprintSampleBytes } from '../../../core/limits.ts';
import type { Access, KnownFile, Listed, Listing, Look, NamedFile } from '../contract.ts';
import { headOf } from '../http/request.ts';
import { contentRangeOf, totalOf } from '../http/version.ts';
import { Passing, readInBlocks, withTries, type RangeAnswer } from '../resume.ts';
import { createClient, S3Refusal, type S3Client } from './client.ts';
import { listObjects } from './list-objects.ts';
import { objectAt, readLocation } from './location.ts';
import { s3Error } from './refusals.ts';
import { patience, settingsOf } from './settings.ts';
import { checkVersion, etagIn, versionOf } from './version.ts';

/** A client for each source, so that credentials and regions are found once. */
const clients = new WeakMap<SourceSpec, Promise<S3Client>>();

const clientOf = ({ declared }: Access): Promise<S3Client> => {
  const known = clients.get(declared);
  if (known !== undefined) return known;
  const opening = settingsOf(declared.options, process.env).then(createClient);
  clients.set(declared, opening);
  opening.catch(() => clients.delete(declared));
  return opening;
};

/**
 * Calls `work` with the client. Refusals of the server, and missing credentials, become errors that
 * name the file.
 */
const withClient = async <T>(
  file: NamedFile,
  access: Access,
  work: (client: S3Client) => Promise<T>,
): Promise<T> => {
  try {
    return await work(await clientOf(access));
  } catch (thrown) {
    throw s3Error(file, thrown);
  }
};

export async function* list(listing: Listing, access: Access): AsyncGenerator<Listed, void> {
  const { table, locations } = listing;
  const whole = { table, name: locations.join(', '), location: locations[0]! };
  try {
    yield* listObjects(locations.map(readLocation), await clientOf(access), listing, access);
  } catch (thrown) {
    throw s3Error(whole, thrown);
  }
}

const lookOnce = async (client: S3Client, file: NamedFile, { signal }: Access): Promise<Look> => {
  const asked = { file, ...objectAt(file.location), signal };
  const headers = { range: `bytes=0-${fingerprintSampleBytes - 1}` };
  const answer = await client.send({ ...asked, headers }).catch((thrown: unknown) => {
    // A server answers 416 to a range of an empty object.
    if (thrown instanceof S3Refusal && thrown.status === 416) return client.send(asked);
    throw thrown;
  });
  try {
    // Without a size, an object would look empty, and a truncated one complete.
    if (totalOf(answer.status, answer.headers) === undefined)
      throw new EtlError('ETL_SOURCE_FORMAT', {
        table: file.table,
        file: file.name,
        problem: 'is sent without its size',
        hint: 'The server probably decompresses the object while sending it, as Google Cloud Storage does. Remove Content-Encoding from its metadata: sluice decompresses it itself.',
      });
    return { ...versionOf(answer), head: await headOf(answer) };
  } finally {
    answer.close();
  }
};

/** Finds an object's size, version and first bytes with one request. */
export const look = (file: NamedFile, access: Access): ReturnType<typeof lookOnce> =>
  withClient(file, access, (client) =>
    withTries(file, patience.look, access.signal, () => lookOnce(client, file, access)),
  );

/** Requests the bytes from `from` on, of the version that was planned. */
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
  const read = {
    file,
    start,
    end: Math.min(end, file.bytes),
    ask: (from: number, signal: AbortSignal) => askFrom(file, { ...access, signal }, from),
    patience: patience.read,
    signal: access.signal,
  };
  return readInBlocks(read, blockBytes);
};
