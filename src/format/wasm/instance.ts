// Instantiates a WebAssembly module from its bytes, with the host functions that it calls.

/** What its types need to know of a module's source. */
interface ModuleParts {
  readonly imported: Readonly<Record<string, number>>;
  readonly functions: Readonly<Record<string, unknown>>;
}

/** A module in WebAssembly's binary format, with the parts that it was made of as a type. */
export type ModuleBytes<Source extends ModuleParts> = Uint8Array & { readonly source?: Source };

/** The part of the global that this file uses: the types of Node.js 20 lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imported: object) => { readonly exports: object };
};

/** Bytes that a routine looks at at once: as many as i64 has bits. */
export const groupBytes = 64;

/** Bytes by which a memory grows. */
export const pageBytes = 65_536;

/** The name under which a module imports what the host gives it. */
export const hostName = 'host';

/** Takes and gives what is i64 as bigint. */
export type Run = (...parameters: (number | bigint)[]) => number;

/** A module that runs: its functions by name, and the memory that they work on. */
export type Routines<Source extends ModuleParts> = Readonly<Record<keyof Source['functions'], Run>> & {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
};

/** Compiles a module; `host` has the functions that it imports. */
export const instantiate = <Source extends ModuleParts>(
  bytes: ModuleBytes<Source>,
  host: Readonly<Record<keyof Source['imported'], (...parameters: number[]) => number>>,
): Routines<Source> =>
  new WebAssembly.Instance(new WebAssembly.Module(bytes), { [hostName]: host }).exports as Routines<Source>;
