// Reads long bodies from the socket into reused memory. Node's HTTP parser allocates memory for
// every piece, which costs more than the rest of a download.

import { Agent, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Size of a read. With Node's 64 KiB, a download takes twice the processor time. */
export const socketBytes = 512 * 1024;

/** Node's parser reads shorter bodies, so that their connections can be used again. */
const longBytesMin = 8 * socketBytes;

/** Buffers for the receiver's piece, two pieces before it, and the piece that is being filled. */
const piecesAtOnce = 4;

const longStatuses: ReadonlySet<number> = new Set([200, 206]);

export interface LongBody {
  /** The memory of a piece is reused when the third piece after it is requested. */
  readonly next: () => Promise<Buffer | undefined>;
  /** Called whenever bytes come; `next` returns only full pieces, and the last piece. */
  onArrival: () => void;
}

interface Filling {
  readonly room: () => Buffer;
  readonly add: (bytes: number) => boolean;
  readonly isFull: () => boolean;
}

interface WideSocket {
  readonly to: { filling: Filling | undefined };
  readonly resume: () => void;
}

const wideSockets = new WeakMap<Duplex, WideSocket>();

const longBytesOf = ({ statusCode, headers }: IncomingMessage): number | undefined => {
  const bytes = Number(headers['content-length']);
  const isLong = longStatuses.has(statusCode!) && headers['transfer-encoding'] === undefined;
  return isLong && bytes >= longBytesMin ? bytes : undefined;
};

const createPieces = () => {
  const memory: Buffer[] = [];
  const waiting: Buffer[] = [];
  let [turn, filled, lent] = [0, 0, 0];
  const filling = (): Buffer => (memory[turn] ??= Buffer.allocUnsafeSlow(socketBytes));
  const close = (): void => {
    if (filled === 0) return;
    waiting.push(filling().subarray(0, filled));
    [turn, filled] = [(turn + 1) % piecesAtOnce, 0];
  };
  return {
    room: (): Buffer => filling().subarray(filled),
    fill: (bytes: number): void => {
      filled += bytes;
      if (filled === socketBytes) close();
    },
    add: (piece: Buffer): void => void waiting.push(piece),
    close,
    isEmpty: (): boolean => waiting.length === 0,
    isFull: (): boolean => waiting.length + lent >= piecesAtOnce,
    /** Called when another piece is requested: only the last two pieces are still in use. */
    release: (): void => {
      lent = Math.min(lent, 2);
    },
    take: (): Buffer | undefined => {
      const piece = waiting.shift();
      if (piece !== undefined) lent += 1;
      return piece;
    },
  };
};

const createBody = (response: IncomingMessage, length: number, { resume }: WideSocket) => {
  const pieces = createPieces();
  let left = length;
  let hasBegun = false;
  let ended: { readonly error?: Error } | undefined;
  let wake: () => void = () => undefined;
  const end = (how: { readonly error?: Error }): void => {
    if (ended !== undefined) return;
    pieces.close();
    ended = how;
    wake();
  };
  // Without a listener, an error of the connection would end the process.
  response.on('error', (error) => end({ error }));
  response.on('close', () => end({ error: new Error('the connection was closed') }));
  /** The parser has the bytes that came with the headers; they are the first piece. */
  const begin = (): void => {
    hasBegun = true;
    const first = response.read() as Buffer | null;
    left -= first?.length ?? 0;
    if (first !== null) pieces.add(first);
    wake();
  };
  const filling: Filling = {
    room: () => {
      if (!hasBegun) begin();
      return pieces.room();
    },
    add: (bytes) => {
      if (ended !== undefined) return false;
      const own = Math.min(bytes, left);
      left -= own;
      pieces.fill(own);
      body.onArrival();
      if (left === 0) end({});
      else if (!pieces.isEmpty()) wake();
      return ended === undefined && !pieces.isFull();
    },
    isFull: pieces.isFull,
  };
  const body: LongBody = {
    onArrival: () => undefined,
    next: async () => {
      const hadNoRoom = pieces.isFull();
      pieces.release();
      if (hadNoRoom && !pieces.isFull()) resume();
      if (pieces.isEmpty() && ended === undefined) await new Promise<void>((resolve) => (wake = resolve));
      const piece = pieces.take();
      if (piece === undefined && ended?.error !== undefined) throw ended.error;
      return piece;
    },
  };
  return { filling, body };
};

/**
 * Returns a reader of a long body, or undefined if the body is short or of unknown length. Must be
 * called in the event `response`. The caller must destroy the response at the end, because its
 * connection cannot be used again.
 */
export const takeLongBody = (response: IncomingMessage): LongBody | undefined => {
  const socket = wideSockets.get(response.socket);
  const bytes = longBytesOf(response);
  if (socket === undefined || bytes === undefined) return undefined;
  const { filling, body } = createBody(response, bytes, socket);
  socket.to.filling = filling;
  return body;
};

/** An agent whose sockets read into one buffer each, from which Node's parser copies. */
export class WideAgent extends Agent {
  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const memory = Buffer.allocUnsafeSlow(socketBytes);
    const to: { filling: Filling | undefined } = { filling: undefined };
    const onread = {
      buffer: (): Buffer => to.filling?.room() ?? memory,
      callback(this: Duplex, bytes: number, buffer: Uint8Array): boolean {
        if (to.filling !== undefined) return to.filling.add(bytes);
        this.emit('data', (buffer as Buffer).subarray(0, bytes));
        return true;
      },
    };
    const socket = super.createConnection({ ...options, onread } as ClientRequestArgs, callback);
    if (!socket) return socket;
    const resume = socket.resume.bind(socket);
    // Node resumes the socket when the answer is read. While no memory is free, the socket must
    // stay paused, or bytes would be lost.
    socket.resume = () => (to.filling?.isFull() === true ? socket : resume());
    wideSockets.set(socket, { to, resume });
    return socket;
  }
}
