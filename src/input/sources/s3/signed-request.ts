// Makes the URL and the signed headers of an S3 request.

import { AwsV4Signer } from 'aws4fetch';
import type { Credentials } from './credentials.ts';
import { domainOf } from './region.ts';

/** A request for a bucket or an object. */
export interface Asked {
  readonly bucket: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Escapes everything except letters, digits and -._~, as the signature requires. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** On AWS, the bucket is part of the host name if a certificate covers it, else of the path. */
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
  /** undefined: the request is not signed. */
  readonly signer: Credentials | undefined;
  /** Signing keys by day and region, which take as long to derive as a signature. */
  readonly cache: Map<string, ArrayBuffer>;
}

/** URL and signed headers of a request. The headers must go to this server only. */
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
