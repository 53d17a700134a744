// Program: s3rver on a port of an address, checking signatures, counting requests, and failing as its parent says.
//
//   node --openssl-legacy-provider run-typescript.mjs '' s3-server.ts <directory of buckets> <address>
//
// s3rver hides where a page of a listing ends with a cipher of OpenSSL's legacy provider, and takes any signature.

import { createHash, createHmac } from 'node:crypto';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import S3rver from 's3rver';
import { s3Keys, type S3Fault, type S3Order } from './s3.ts';

const directory = process.argv[3]!;
const server = new S3rver({ directory, silent: true });
const answer = server.callback();

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The signature that a request should have, computed from the bytes that came. */
const signatureOf = (request: IncomingMessage, scope: string, signedHeaders: string): string => {
  const [path = '', query = ''] = request.url!.split('?');
  const header = (name: string): string => String(request.headers[name] ?? '');
  const canonical = [
    request.method,
    path,
    query.split('&').toSorted().join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${header(name)}`),
    '',
    signedHeaders,
    header('x-amz-content-sha256'),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', header('x-amz-date'), scope, hex(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${s3Keys.secretAccessKey}`);
  return hmac(key, text).toString('hex');
};

const isSigned = (request: IncomingMessage): boolean => {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  const [, scope = '', signedHeaders = '', signature] = parts;
  return signature === signatureOf(request, scope, signedHeaders);
};

const refuse = (response: ServerResponse, { status, code, headers = {}, region }: S3Fault): void => {
  response.writeHead(status ?? 500, { 'content-type': 'application/xml', ...headers });
  const place = region === undefined ? '' : `<Region>${region}</Region>`;
  response.end(
    code === undefined
      ? ''
      : `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message>${place}</Error>`,
  );
};

/** s3rver answers a range of an empty object with a length of one byte; AWS refuses the range. */
const isEmptyObject = (url: string): boolean => {
  const file = `${join(directory, decodeURIComponent(url.split('?')[0]!))}._S3rver_object`;
  return statSync(file, { throwIfNoEntry: false })?.size === 0;
};

/** Ends the connection after so many bytes of the body. */
const cutAfter = (response: ServerResponse, bytes: number): void => {
  const socket = response.socket!;
  const write = response.write.bind(response) as (chunk: Buffer) => boolean;
  let left = bytes;
  response.write = ((chunk: Buffer) => {
    const part = chunk.subarray(0, Math.max(0, left));
    left -= chunk.length;
    // What was written is on its way first.
    if (left < 0) setTimeout(() => socket.destroy(), 20);
    return write(part);
  }) as typeof response.write;
};

let faults: readonly (S3Fault & { times: number })[] = [];
let requests: string[] = [];
let busy = 0;
let connections = 0;

const listener = createServer((request, response) => {
  busy += 1;
  response.once('close', () => (busy -= 1));
  requests.push(`${request.method} ${request.url} ${request.headers.range ?? ''}`.trim());
  const region = /Credential=[^/]+\/\d+\/([^/]+)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const asked = `${request.url} ${region}`;
  const fault = faults.find(({ on, times }) => times > 0 && new RegExp(on).test(asked));
  if (fault !== undefined) fault.times -= 1;
  if (fault?.cutAfter !== undefined) cutAfter(response, fault.cutAfter);
  else if (fault !== undefined) return refuse(response, fault);
  const isAnonymous = request.headers.authorization === undefined;
  if (isAnonymous && !/^\/public(?:[/?]|$)/.test(request.url!))
    return refuse(response, { on: '', status: 403, code: 'AccessDenied' });
  if (
    !isAnonymous &&
    request.headers.authorization!.includes(`=${s3Keys.accessKeyId}/`) &&
    !isSigned(request)
  )
    return refuse(response, { on: '', status: 403, code: 'SignatureDoesNotMatch' });
  if (request.headers.range !== undefined && isEmptyObject(request.url!))
    return refuse(response, { on: '', status: 416, code: 'InvalidRange' });
  return void answer(request, response);
});

listener.on('connection', () => (connections += 1));

process.on('message', ({ faults: given }: S3Order) => {
  const seen = requests;
  requests = [];
  faults = given.map((fault) => ({ times: 1, ...fault }));
  process.send!({ requests: seen, busy, connections });
});
process.on('disconnect', () => process.exit());

listener.keepAliveTimeout = 60_000;
listener.listen(0, process.argv[4], () => process.send!({ port: (listener.address() as AddressInfo).port }));
