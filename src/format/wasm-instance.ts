// Instantiates a WebAssembly module.

interface ModuleParts {
  readonly imported: Readonly<Record<string, number>>;
  readonly functions: Readonly<Record<string, unknown>>;
}

/** `source` exists only in the type. It tells `instantiate` the names of the functions. */
export type ModuleBytes<Source extends ModuleParts> = Uint8Array & { readonly source?: Source };

/** The types of Node.js 20 lack WebAssembly. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imported: object) => { readonly exports: object };
};

/** Bytes that a routine handles at once: one per bit of an i64. */
export const groupBytes = 64;

export const pageBytes = 65_536;

export const hostName = 'host';

type Run = (...parameters: (number | bigint)[]) => number;

type Routines<Source extends ModuleParts> = Readonly<Record<keyof Source['functions'], Run>> & {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
};

export const instantiate = <Source extends ModuleParts>(
  bytes: ModuleBytes<Source>,
  host: Readonly<Record<keyof Source['imported'], (...parameters: number[]) => number>>,
): Routines<Source> =>
  new WebAssembly.Instance(new WebAssembly.Module(bytes), { [hostName]: host }).exports as Routines<Source>;
