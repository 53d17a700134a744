// Instances of the WebAssembly module, each with a memory of its own: see format/assembly.

import { encoderBytes } from './encoder-bytes.ts';
import { setTables } from './tables.ts';
import { outEnd, planAt } from '../assembly/memory.ts';

/** The types of Node.js 20 lack WebAssembly. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imported: object) => { readonly exports: object };
  readonly Memory: new (size: { readonly initial: number }) => Memory;
};

interface Memory {
  readonly buffer: ArrayBuffer;
  readonly grow: (pages: number) => number;
}

/** What the module asks: see assembly/host.ts. */
export interface Host {
  encodeByText: (index: number, start: number, end: number, out: number, after: number) => number;
  isWanted: () => number;
}

/** The module's functions: numbers are addresses, or as each function says. */
export interface Exports {
  readonly beginPass: (quote: number) => void;
  readonly pass: (from: number, to: number, limit: number) => number;
  readonly skipRecord: () => void;
  readonly encodeSpans: (
    record: number,
    records: number,
    shift: number,
    textFrom: number,
    textTo: number,
  ) => number;
  readonly scanRecords: (from: number, to: number, base: number, recordBytesMax: number) => number;
}

export interface Routines extends Exports {
  readonly host: Host;
  /** Views of the memory, which change when it grows. */
  bytes: Buffer;
  words: Int32Array;
  /** The memory up to the end of the rows: behind it is the plan. */
  rows: Buffer;
  /** Makes room for `bytes` at `planAt`. */
  readonly reserve: (bytes: number) => void;
}

const pageBytes = 65_536;

let compiled: object | undefined;

/** Starts an instance, with 8 MB of memory. */
export const startRoutines = (): Routines => {
  compiled ??= new WebAssembly.Module(encoderBytes);
  const host: Host = { encodeByText: () => 0, isWanted: () => 0 };
  const memory = new WebAssembly.Memory({ initial: Math.ceil(planAt / pageBytes) });
  const { exports } = new WebAssembly.Instance(compiled, {
    env: { memory },
    host: {
      encodeByText: (index: number, start: number, end: number, out: number, after: number) =>
        host.encodeByText(index, start, end, out, after),
      isWanted: () => host.isWanted(),
    },
  });
  const views = () => ({
    bytes: Buffer.from(memory.buffer),
    words: new Int32Array(memory.buffer),
    rows: Buffer.from(memory.buffer, 0, outEnd),
  });
  const routines: Routines = {
    ...(exports as Exports),
    host,
    ...views(),
    reserve: (bytes) => {
      const missing = planAt + bytes - memory.buffer.byteLength;
      if (missing <= 0) return;
      memory.grow(Math.ceil(missing / pageBytes));
      Object.assign(routines, views());
    },
  };
  setTables(routines.bytes);
  return routines;
};

export const setWord = ({ words }: Routines, address: number, value: number): void => {
  words[address >> 2] = value;
};

export const wordAt = ({ words }: Routines, address: number): number => words[address >> 2]!;
