// Bodies of long answers, past Node's parser of HTTP: it makes fresh memory for every piece, which costs more than all the rest of a
// download. Their socket is read into memory that is used again.

import { Agent, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** One read of a socket. Node's own have 64 KiB, and a download in such pieces takes twice the processor time. */
export const socketBytes = 512 * 1024;

/** What is shorter is left to the parser: its connection then serves the next request. Much more than one read of a socket. */
const longBytesMin = 8 * socketBytes;

/** The piece that is with the receiver, the two before it, and the one that is being filled. */
const piecesAtOnce = 4;

const longStatuses: ReadonlySet<number> = new Set([200, 206]);

/** The body of one answer, and the socket that it is read from. */
export interface LongBody {
  /** The next piece; undefined at the end. It holds until the third after it is asked for. Throws what ended the connection. */
  readonly next: () => Promise<Buffer | undefined>;
  /** Called whenever bytes have come: a piece is given when it is full. */
  onArrival: () => void;
}

/** What a socket reads into while it gives a long body. */
interface Filling {
  /** Where the next bytes go. */
  readonly room: () => Buffer;
  /** So many have come there; false: nothing more may come until the socket is resumed. */
  readonly add: (bytes: number) => boolean;
  /** Whether all memory is in use. */
  readonly isFull: () => boolean;
}

/** A socket whose bytes go to the parser, or to a long body. */
interface WideSocket {
  readonly to: { filling: Filling | undefined };
  /** Reads on. */
  readonly resume: () => void;
}

const wideSockets = new WeakMap<Duplex, WideSocket>();

/** The length of a body that ends with so many bytes and nothing else; undefined: of any other, and of a short one. */
const longBytesOf = ({ statusCode, headers }: IncomingMessage): number | undefined => {
  const bytes = Number(headers['content-length']);
  const isLong = longStatuses.has(statusCode!) && headers['transfer-encoding'] === undefined;
  return isLong && bytes >= longBytesMin ? bytes : undefined;
};

/** Pieces of a body in memory that is used again. */
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
    /** Adds one with memory of its own. */
    add: (piece: Buffer): void => void waiting.push(piece),
    /** What is filled by now is a piece. */
    close,
    isEmpty: (): boolean => waiting.length === 0,
    isFull: (): boolean => waiting.length + lent >= piecesAtOnce,
    /** Another one is asked for: all but the last two that were given may be used again. */
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
  /** Bytes that are still to come. */
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
  /** What came with the head is with the parser, all of it by the time when Node asks for room again. */
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
 * Takes the body of an answer from its socket, if it is long and of known length: undefined otherwise. To be called at the event
 * `response`, before more is read. The connection serves no other request: the reader of the body destroys the response.
 */
export const takeLongBody = (response: IncomingMessage): LongBody | undefined => {
  const socket = wideSockets.get(response.socket);
  const bytes = longBytesOf(response);
  if (socket === undefined || bytes === undefined) return undefined;
  const { filling, body } = createBody(response, bytes, socket);
  socket.to.filling = filling;
  return body;
};

/** Reads from a socket into the same memory again and again, which Node's parser of HTTP copies from. */
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
    // The answer resumes its socket when it is read. What came without room would be written over what is not read yet.
    socket.resume = () => (to.filling?.isFull() === true ? socket : resume());
    wideSockets.set(socket, { to, resume });
    return socket;
  }
}
