// A file server over HTTP on loopback, whose every answer can be made as bad as those of real ones.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';

/** How a file is served; every part has the default of a good server. */
export interface Serving {
  readonly bytes: Buffer;
  /** null: none. */
  readonly etag?: string | null;
  readonly modified?: string | null;
  /** false: ranges are ignored · 'always': If-Range is ignored. */
  readonly ranges?: boolean | 'always';
  /** false: sent in chunks of unknown number. */
  readonly length?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Every answer but a look's is cut off after so many bytes of its body. */
  readonly cutAt?: number;
  /** Every answer to a look. */
  readonly cutLookAt?: number;
}

/** Answers instead of the server; false: the server answers. */
type Trouble = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface FileServer {
  readonly url: (path: string) => string;
  readonly put: (path: string, serving: Buffer | string | Serving) => string;
  readonly remove: (path: string) => void;
  /** Asked before every answer; undefined: no trouble. */
  trouble: Trouble | undefined;
  /** Answers that are cut off, each after so many bytes of its body. */
  cuts: number[];
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** Answers that are being sent. */
  readonly busy: () => number;
}

const rangeOf = (text: string | undefined, size: number): readonly [number, number] | undefined => {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(text ?? '') ?? [];
  return first === undefined
    ? undefined
    : [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
};

const serve = (
  request: IncomingMessage,
  response: ServerResponse,
  { bytes, ...serving }: Serving,
  cut: number | undefined,
): void => {
  const { ranges = true, length = true } = serving;
  const etag =
    serving.etag === undefined ? `"${createHash('md5').update(bytes).digest('hex')}"` : serving.etag;
  const modified = serving.modified ?? null;
  if (etag !== null) response.setHeader('etag', etag);
  if (modified !== null) response.setHeader('last-modified', modified);
  for (const [name, value] of Object.entries(serving.headers ?? {})) response.setHeader(name, value);
  const ifRange = request.headers['if-range'];
  const holds = ranges === 'always' || ifRange === undefined || ifRange === etag || ifRange === modified;
  const range = ranges !== false && holds ? rangeOf(request.headers.range, bytes.length) : undefined;
  if (range !== undefined && range[0] >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  const [from, to] = range ?? [0, bytes.length];
  if (range !== undefined) response.setHeader('content-range', `bytes ${from}-${to - 1}/${bytes.length}`);
  if (length) response.setHeader('content-length', to - from);
  response.writeHead(range === undefined ? 200 : 206);
  if (cut === undefined || cut >= to - from) response.end(bytes.subarray(from, to));
  else response.write(bytes.subarray(from, from + cut), () => setImmediate(() => response.destroy()));
};

type Identity = () => { readonly key: Buffer; readonly cert: Buffer };

/** A server that is not started yet. */
const makeHttpFiles = (tls: Identity | undefined) => {
  const files = new Map<string, Serving>();
  const sockets = new Set<Socket>();
  let base = '';
  let busy = 0;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url!;
    own.requests.push({ path, headers: request.headers });
    busy += 1;
    response.once('close', () => (busy -= 1));
    if (own.trouble?.(request, response) === true) return;
    const serving = files.get(path);
    if (serving === undefined) {
      response.writeHead(404).end('nothing here');
      return;
    }
    // A look asks for a part of the first bytes, other reads for all that follow.
    const isLook = /^bytes=\d+-\d/.test(request.headers.range ?? '');
    serve(request, response, serving, isLook ? serving.cutLookAt : (own.cuts.shift() ?? serving.cutAt));
  };
  const own: FileServer = {
    url: (path) => base + path,
    put: (path, serving) => {
      const isBare = typeof serving === 'string' || Buffer.isBuffer(serving);
      files.set(path, isBare ? { bytes: Buffer.from(serving) } : serving);
      return base + path;
    },
    remove: (path) => void files.delete(path),
    trouble: undefined,
    cuts: [],
    requests: [],
    busy: () => busy,
  };
  let server: ReturnType<typeof createServer> | undefined;
  const start = async (): Promise<void> => {
    server = tls === undefined ? createServer(answer) : createTlsServer(tls(), answer);
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    base = `http${tls === undefined ? '' : 's'}://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  };
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { own, start, close };
};

/** Starts a server for one who closes it. */
export const startHttpFiles = async (): Promise<FileServer & { readonly close: () => Promise<void> }> => {
  const { own, start, close } = makeHttpFiles(undefined);
  await start();
  return { ...own, close };
};

/** A server for the tests of a file; with a key and a certificate over TLS. */
export const useHttpFiles = (tls?: Identity): FileServer => {
  const { own, start, close } = makeHttpFiles(tls);
  beforeAll(start);
  afterAll(close);
  return own;
};
