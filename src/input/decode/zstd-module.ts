// zstd itself in WebAssembly, as zstddec brings it. Its streams are driven here: zstddec's own give each block in fresh memory, and keep
// the memory of a frame that is broken.

import { ZSTDDecoder } from 'zstddec/stream';

/** A number is an address, or a count of bytes. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly malloc: (bytes: number) => number;
  readonly free: (address: number) => void;
  readonly ZSTD_createDCtx: () => number;
  readonly ZSTD_freeDCtx: (context: number) => number;
  readonly ZSTD_decompressStream: (context: number, out: number, given: number) => number;
}

let opening: Promise<Exports> | undefined;

const open = (): Promise<Exports> =>
  new Promise((resolve, reject) => {
    class Opened extends ZSTDDecoder {
      override _init(opened: { readonly instance: { readonly exports: object } }): void {
        // It keeps the module for when that needs more memory: for a frame with a large window, or many at once.
        // oxlint-disable-next-line no-underscore-dangle -- its own name
        super._init(opened);
        resolve(opened.instance.exports as Exports);
      }
    }
    // Where there is fetch, it gets its own bytes by that, and Node loads an HTTP client for 60 ms. It looks at once.
    const fetch = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
    if (fetch !== undefined) Object.defineProperty(globalThis, 'fetch', { ...fetch, value: undefined });
    try {
      new Opened().init().catch(reject);
    } finally {
      if (fetch !== undefined) Object.defineProperty(globalThis, 'fetch', fetch);
    }
  });

/** No block of a frame is longer, neither stored, with what is before it, nor decoded (RFC 8878, 3.1.1.2). */
const roomBytes = 128 * 1024 + 32;

/** Of zstd's structures for what is given and for what comes out: address, size, and how much of it is used. */
const structBytes = 12;

/** Counts of bytes that are none: numbers of errors, below zero. */
const errorsMax = 120;

/** A frame that is being decoded. */
export interface ZstdFrame {
  /** What so many bytes become, until it is called again; undefined: they are broken. At most one block is given at once. */
  readonly decode: (bytes: Buffer) => Uint8Array | undefined;
  /** Whether it has ended, with the checksum of what it became. */
  readonly isEnded: () => boolean;
  readonly close: () => void;
}

/** Begins a frame. It must be closed: its memory is that of the process, or of the thread. */
export const openZstdFrame = async (): Promise<ZstdFrame> => {
  const { memory, malloc, free, ...zstd } = await (opening ??= open());
  const context = zstd.ZSTD_createDCtx();
  const [given, out, structs] = [malloc(roomBytes), malloc(roomBytes), malloc(2 * structBytes)];
  let left = 1;
  return {
    decode: (bytes) => {
      new Uint8Array(memory.buffer).set(bytes, given);
      new Uint32Array(memory.buffer, structs, 6).set([given, bytes.length, 0, out, roomBytes, 0]);
      left = zstd.ZSTD_decompressStream(context, structs + structBytes, structs);
      // It may have more memory by now, which is another buffer.
      const [, , used, , , made] = new Uint32Array(memory.buffer, structs, 6);
      const isBroken = (left < 0 && left >= -errorsMax) || used !== bytes.length;
      return isBroken ? undefined : new Uint8Array(memory.buffer, out, made);
    },
    isEnded: () => left === 0,
    close: () => {
      zstd.ZSTD_freeDCtx(context);
      for (const address of [given, out, structs]) free(address);
    },
  };
};
