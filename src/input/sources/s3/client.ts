// Sends requests to an S3 server, in the bucket's region and with valid credentials.

import type { NamedFile } from '../contract.ts';
import { retryAfterMs } from '../http/answer.ts';
import { requestHttp, type HttpAnswer } from '../http/request.ts';
import { Passing } from '../resume.ts';
import { isRegion, domainOf } from './region.ts';
import type { S3Settings } from './settings.ts';
import { parseXml, textAt } from './xml.ts';
import { AwsV4Signer } from 'aws4fetch';
import type { Credentials } from './credentials.ts';

interface Asked {
  readonly bucket: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Escapes a text for a URL. Signatures require more escapes than encodeURIComponent writes. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** On AWS, the bucket is part of the host name if a certificate covers this name. */
const urlOf = (
  endpoint: string | undefined,
  region: string,
  { bucket, key = '', query = {} }: Asked,
): URL => {
  const host = `s3.${region}.${domainOf(region)}`;
  const isHost = endpoint === undefined && /^[a-z0-9-]+$/.test(bucket);
  const base = isHost ? `https://${bucket}.${host}` : `${endpoint ?? `https://${host}`}/${encode(bucket)}`;
  const url = new URL(`${base}/${key.split('/').map(encode).join('/')}`);
  url.search = Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
  return url;
};

interface Signing {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly signer: Credentials | undefined;
  /** Derived signing keys, because deriving a key takes as long as signing. */
  readonly cache: Map<string, ArrayBuffer>;
}

/** Signs a request. The headers must be sent only to the server of the URL. */
export const signedRequest = async (
  asked: Asked,
  { endpoint, region, signer, cache }: Signing,
): Promise<{ readonly url: URL; readonly headers: Readonly<Record<string, string>> }> => {
  const url = urlOf(endpoint, region, asked);
  if (signer === undefined) return { url, headers: asked.headers ?? {} };
  const request = {
    method: 'GET',
    url: url.href,
    headers: asked.headers ?? {},
    service: 's3',
    region,
    cache,
  };
  const { headers } = await new AwsV4Signer({ ...signer, ...request }).sign();
  return { url, headers: Object.fromEntries(headers) };
};

export interface S3Request extends Asked {
  readonly file: NamedFile;
  readonly signal?: AbortSignal | undefined;
  readonly reusesMemory?: boolean;
}

export class S3Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined) {
    super(`the server answers ${status}${code === undefined ? '' : ` ${code}`}`);
    this.status = status;
    this.code = code;
  }
}

export interface S3Client {
  /** Errors: S3Refusal, CredentialsProblem, Passing, ETL_SOURCE_ADDRESS, the signal's reason. */
  readonly send: (request: S3Request) => Promise<HttpAnswer>;
}

/** More than the longest page of a listing: 1000 keys of 1024 bytes, each escaped as three. */
const textBytesMax = 16 * 1024 * 1024;

export const textOf = async ({ body, status }: HttpAnswer): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > textBytesMax) throw new S3Refusal(status, 'and more than 16 MiB of text');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

/** After these codes, new credentials may help. */
const staleCodes: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'TokenRefreshRequired',
]);

/** After these statuses, another attempt may help. */
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const elsewhereStatuses: ReadonlySet<number> = new Set([301, 307, 400]);

interface Refused {
  readonly refusal: S3Refusal;
  readonly region: string | undefined;
}

const readRefusal = async (answer: HttpAnswer): Promise<Refused> => {
  const { status, headers } = answer;
  const error = parseXml(await textOf(answer));
  const code = textAt(error, 'Error', 'Code');
  const refusal = new S3Refusal(status, code);
  if (passingStatuses.has(status) || code === 'RequestTimeout')
    throw new Passing(refusal.message, {
      cause: refusal,
      retryAfterMs: retryAfterMs(headers['retry-after']),
    });
  const named = headers['x-amz-bucket-region'] ?? textAt(error, 'Error', 'Region');
  const isNamed = elsewhereStatuses.has(status) && typeof named === 'string' && isRegion(named);
  return { refusal, region: isNamed ? named : undefined };
};

const isSame = (one: Credentials, other: Credentials): boolean =>
  one.accessKeyId === other.accessKeyId &&
  one.secretAccessKey === other.secretAccessKey &&
  one.sessionToken === other.sessionToken;

const timeouts = { connectMs: 10_000, headersMs: 60_000, idleMs: 60_000 };

export const createClient = ({ endpoint, credentials, requesterPays, region }: S3Settings): S3Client => {
  const cache = new Map<string, ArrayBuffer>();
  const regions = new Map<string, string>();
  const payer: Record<string, string> = requesterPays ? { 'x-amz-request-payer': 'requester' } : {};

  const sendOnce = async (
    { file, signal, reusesMemory = false, ...asked }: S3Request,
    where: string,
    signer: Credentials | undefined,
  ): Promise<HttpAnswer> => {
    const signing = { endpoint, region: where, signer, cache };
    const { url, headers } = await signedRequest(
      { ...asked, headers: { ...asked.headers, ...payer } },
      signing,
    );
    return requestHttp({
      file,
      url,
      // Not signed, because proxies may change this header.
      headers: { 'accept-encoding': 'identity' },
      credentials: headers,
      // The pipeline or the environment names the server, and redirects are not followed.
      allowPrivate: true,
      redirects: false,
      reusesMemory,
      timeouts,
      signal,
    });
  };

  /** Returns whether new credentials were found. */
  const renew = async (signer: Credentials): Promise<boolean> => {
    credentials!.forget(signer);
    return !isSame(await credentials!.get(), signer);
  };

  const send = async (request: S3Request): Promise<HttpAnswer> => {
    let hasMoved = false;
    let hasRenewed = false;
    for (;;) {
      const where = regions.get(request.bucket) ?? region;
      const signer = await credentials?.get();
      const answer = await sendOnce(request, where, signer);
      if (answer.status >= 200 && answer.status < 300) return answer;
      const refused = await readRefusal(answer);
      const isStale = signer !== undefined && staleCodes.has(refused.refusal.code ?? '');
      if (!hasMoved && refused.region !== undefined && refused.region !== where) {
        hasMoved = true;
        regions.set(request.bucket, refused.region);
      } else if (!hasRenewed && isStale && (await renew(signer))) hasRenewed = true;
      else throw refused.refusal;
    }
  };
  return { send };
};
