// Runs zstd in WebAssembly, without the streams of the package zstddec, which allocate memory for
// each block, and never free the memory of a damaged frame.

import { ZSTDDecoder } from 'zstddec/stream';

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
        // zstddec needs the instance, too, to grow the memory for large windows or many frames.
        // oxlint-disable-next-line no-underscore-dangle -- its own name
        super._init(opened);
        resolve(opened.instance.exports as Exports);
      }
    }
    // Hides `fetch` from `init`, which would load the module with `fetch`: that takes Node 60 ms.
    const fetch = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
    if (fetch !== undefined) Object.defineProperty(globalThis, 'fetch', { ...fetch, value: undefined });
    try {
      new Opened().init().catch(reject);
    } finally {
      if (fetch !== undefined) Object.defineProperty(globalThis, 'fetch', fetch);
    }
  });

/** Room for a block of at most 128 KiB (RFC 8878, 3.1.1.2), and a frame header. */
const roomBytes = 128 * 1024 + 32;

/** Size of zstd's structs ZSTD_inBuffer and ZSTD_outBuffer: address, size, bytes used. */
const structBytes = 12;

const errorsMax = 120;

interface ZstdFrame {
  /** Decodes up to one block; undefined if damaged. The result is valid until the next call. */
  readonly decode: (bytes: Buffer) => Uint8Array | undefined;
  /** True if the whole frame was decoded, and its checksum was right. */
  readonly isEnded: () => boolean;
  readonly close: () => void;
}

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
      // Growing the module's memory replaces its buffer.
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
