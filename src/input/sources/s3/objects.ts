// Lists and reads objects of S3.

import type { SourceSpec } from '../../../core/declaration.ts';
import { fingerprintSampleBytes } from '../../../core/limits.ts';
import type { Access, FileVersion, KnownFile, Listed, Listing, Look, NamedFile } from '../contract.ts';
import { firstByteOf, totalOf } from '../http/version.ts';
import { otherBytes, readHead, readInBlocks, type HeadAnswer, type RangeAnswer } from '../resume.ts';
import { createClient, S3Refusal, type S3Client } from './client.ts';
import { listObjects } from './list-objects.ts';
import { objectAt, readLocation } from './location.ts';
import { patience, settingsOf } from './settings.ts';
import { checkVersion, etagIn, versionOf } from './version.ts';
import { EtlError } from '../../../core/errors/errors.ts';
import { CredentialsProblem } from './credentials.ts';

interface Meaning {
  readonly code:
    | 'ETL_SOURCE_ADDRESS'
    | 'ETL_SOURCE_ARCHIVED'
    | 'ETL_SOURCE_CHANGED'
    | 'ETL_SOURCE_CREDENTIALS'
    | 'ETL_SOURCE_DENIED'
    | 'ETL_SOURCE_GONE';
  readonly problem: string;
  readonly hint: string;
}

const credentials = (problem: string, hint: string): Meaning => ({
  code: 'ETL_SOURCE_CREDENTIALS',
  problem,
  hint,
});
const address = (problem: string, hint: string): Meaning => ({ code: 'ETL_SOURCE_ADDRESS', problem, hint });

const checkKeys =
  'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE, and that they are for this server.';
const expired = credentials(
  'they have expired',
  'Fetch temporary credentials again, then run again: loaded chunks are kept.',
);
const elsewhere = address(
  'the bucket is in another region, or on another server',
  "Name the bucket's region: csv(…, { region: '…' }) or AWS_REGION. Check AWS_ENDPOINT_URL_S3.",
);

const meanings: Readonly<Record<string, Meaning>> = {
  AccessDenied: {
    code: 'ETL_SOURCE_DENIED',
    problem: 'the credentials do not allow it',
    hint: 'They need s3:GetObject, and s3:ListBucket for globs. In some buckets the reader pays: csv(…, { requesterPays: true }).',
  },
  NoSuchKey: {
    code: 'ETL_SOURCE_GONE',
    problem: 'no such key',
    hint: 'Check bucket and key; upper and lower case differ.',
  },
  PreconditionFailed: { code: 'ETL_SOURCE_CHANGED', problem: 'another version', hint: '' },
  NoSuchBucket: address('there is no such bucket', "Check the bucket's name, and AWS_ENDPOINT_URL_S3."),
  InvalidBucketName: address('no bucket can have this name', "Check the bucket's name."),
  InvalidObjectState: {
    code: 'ETL_SOURCE_ARCHIVED',
    problem: 'the object is archived',
    hint: "Restore it (aws s3api restore-object), or exclude it: csv(['s3://…', '!s3://bucket/key']). Then run again: loaded data is kept.",
  },
  InvalidAccessKeyId: credentials('the server does not know the access key', checkKeys),
  SignatureDoesNotMatch: credentials('the secret key does not belong to the access key', checkKeys),
  InvalidToken: credentials('the session token is not valid', checkKeys),
  ExpiredToken: expired,
  TokenRefreshRequired: expired,
  RequestTimeTooSkewed: credentials(
    "this machine's clock differs from the server's",
    'Set the clock of this machine: a signature is valid for 15 minutes.',
  ),
  PermanentRedirect: elsewhere,
  TemporaryRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
};

const statuses: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  401: 'AccessDenied',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
};

const s3Error = ({ table, name }: NamedFile, thrown: unknown): unknown => {
  if (thrown instanceof CredentialsProblem) {
    const details = { table, file: name, problem: thrown.message, hint: thrown.hint };
    return new EtlError('ETL_SOURCE_CREDENTIALS', details, { cause: thrown });
  }
  if (!(thrown instanceof S3Refusal)) return thrown;
  const { status, code = '' } = thrown;
  const meaning = Object.hasOwn(meanings, code) ? meanings[code] : meanings[statuses[status] ?? ''];
  const {
    code: ours,
    problem,
    hint,
  } = meaning ??
  address('its answer is not one of an S3 server', 'Check AWS_ENDPOINT_URL_S3 and the option endpoint.');
  const details = { table, file: name, problem: `${problem}: ${thrown.message}`, hint };
  return new EtlError(ours, details, { cause: thrown });
};

/** Clients are kept, so that credentials and regions are found once. */
const clients = new WeakMap<SourceSpec, Promise<S3Client>>();

const clientOf = ({ declared }: Access): Promise<S3Client> => {
  const known = clients.get(declared);
  if (known !== undefined) return known;
  const opening = settingsOf(declared.options, process.env).then(createClient);
  clients.set(declared, opening);
  opening.catch(() => clients.delete(declared));
  return opening;
};

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

const lookFrom = async (
  client: S3Client,
  file: NamedFile,
  { signal }: Access,
  next: number,
  begun: FileVersion | undefined,
): Promise<HeadAnswer<FileVersion>> => {
  const asked = { file, ...objectAt(file.location), signal };
  const etag = begun === undefined ? '' : etagIn(begun.fingerprint);
  const from = etag === '' ? 0 : next;
  const range = `bytes=${from}-${fingerprintSampleBytes - 1}`;
  const headers = { range, ...(from > 0 && { 'if-match': etag }) };
  const answer = await client.send({ ...asked, headers }).catch((thrown: unknown) => {
    // A server answers 416 to a range of an empty object, and 412 if the object was changed.
    if (thrown instanceof S3Refusal && [412, 416].includes(thrown.status)) return client.send(asked);
    throw thrown;
  });
  try {
    const total = totalOf(answer.status, answer.headers);
    // Without a size, an object would look empty, and a truncated object complete.
    if (total === undefined)
      throw new EtlError('ETL_SOURCE_FORMAT', {
        table: file.table,
        file: file.name,
        problem: 'is sent without its size',
        hint: 'The server probably decompresses the object while sending it, as Google Cloud Storage does. Remove Content-Encoding from its metadata: sluice decompresses it itself.',
      });
    const first = firstByteOf(answer);
    if (answer.status === 206 && first !== from) throw otherBytes(from);
    if (from > 0 && first !== 0) checkVersion({ ...file, ...begun! }, answer);
    return { from: first ?? 0, total, version: versionOf(answer), body: answer.body };
  } catch (error) {
    answer.close();
    throw error;
  }
};

export const look = (file: NamedFile, access: Access): Promise<Look> =>
  withClient(file, access, async (client) => {
    const { version, head } = await readHead<FileVersion>(file, patience.look, access.signal, (from, begun) =>
      lookFrom(client, file, access, from, begun),
    );
    return { ...version, head };
  });

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
      const first = firstByteOf(answer);
      if (first === undefined || first > from) throw otherBytes(from);
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
