interface ModuleParts {
  readonly imported: Readonly<Record<string, number>>;
  readonly functions: Readonly<Record<string, unknown>>;
}

/** A compiled module. Its type remembers the source. */
export type ModuleBytes<Source extends ModuleParts> = Uint8Array & { readonly source?: Source };

/** The part of the global WebAssembly that is used here. The types of Node.js 20 lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imported: object) => { readonly exports: object };
};

/** Bytes that a routine handles at once: one per bit of an i64. */
export const groupBytes = 64;

/** Size of a page of WebAssembly memory. */
export const pageBytes = 65_536;

/** The module name of imported functions. */
export const hostName = 'host';

/** i64 values are bigints. */
type Run = (...parameters: (number | bigint)[]) => number;

type Routines<Source extends ModuleParts> = Readonly<Record<keyof Source['functions'], Run>> & {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
};

/** `host` has the functions that the module imports. */
export const instantiate = <Source extends ModuleParts>(
  bytes: ModuleBytes<Source>,
  host: Readonly<Record<keyof Source['imported'], (...parameters: number[]) => number>>,
): Routines<Source> =>
  new WebAssembly.Instance(new WebAssembly.Module(bytes), { [hostName]: host }).exports as Routines<Source>;
