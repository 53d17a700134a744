// A request as S3 takes it: its URL, and its headers with a signature.

import { AwsV4Signer } from 'aws4fetch';
import type { Credentials } from './credentials.ts';
import { domainOf } from './region.ts';

/** What is asked for. */
export interface Asked {
  readonly bucket: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** S3 escapes everything but letters, digits and -._~ before it signs. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** The bucket is in the name of the host where that name can have a certificate, as AWS wants it; elsewhere in the path. */
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

export interface Signing {
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: not signed. */
  readonly signer: Credentials | undefined;
  /** Keys of a day and region, which cost as much to derive as a signature. */
  readonly cache: Map<string, ArrayBuffer>;
}

/** The URL, and the headers that belong to the server alone. */
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
