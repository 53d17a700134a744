// Counts work that no clock shows, for the program that imports this first: calls between JavaScript and the compiled routines, and
// bytes that are copied from one array to another.

export const counts = { hostCalls: 0, routineCalls: 0, copiedBytes: 0 };

/** The part of the global that is counted: the types of Node.js 20 lack it. */
declare const WebAssembly: {
  Instance: new (module: object, imports: object) => { readonly exports: object };
};

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

const counting = (run: Method, name: 'hostCalls' | 'routineCalls'): Method =>
  function counted(...parameters) {
    counts[name] += 1;
    return run.apply(this, parameters);
  };

const each = (object: object, change: (run: Method) => Method): object =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'function' ? change(value as Method) : value,
    ]),
  );

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct: (target, [module, imports = {}]: [object, object?]) => {
    const host = Object.fromEntries(
      Object.entries(imports).map(([name, functions]) => [
        name,
        each(functions as object, (run) => counting(run, 'hostCalls')),
      ]),
    );
    const { exports } = new target(module, host);
    return { exports: each(exports, (run) => counting(run, 'routineCalls')) };
  },
});

/** Counts what a method copies: `bytesOf` gets its result, the object and the parameters. */
const watch = (
  object: object,
  name: string,
  bytesOf: (result: any, array: any, parameters: any[]) => number,
): void => {
  const methods = object as Record<string, Method>;
  const run = methods[name]!;
  methods[name] = function watched(...parameters) {
    const result = run.apply(this, parameters);
    counts.copiedBytes += bytesOf(result, this, parameters);
    return result;
  };
};

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
watch(
  typedArray,
  'set',
  (_, array, [source]) => source.byteLength ?? source.length * array.BYTES_PER_ELEMENT,
);
watch(typedArray, 'slice', (made) => made.byteLength);
watch(Buffer.prototype, 'copy', (copied) => copied);
watch(Buffer, 'concat', (made) => made.length);
