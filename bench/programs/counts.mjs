// Counts work that no clock shows, for the program that imports this first: calls between JavaScript and the compiled routines, and
// bytes that are copied from one array to another.

export const counts = { hostCalls: 0, routineCalls: 0, copiedBytes: 0 };

const counting = (run, name) =>
  function counted(...parameters) {
    counts[name] += 1;
    return run.apply(this, parameters);
  };

const each = (object, change) =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'function' ? change(value) : value,
    ]),
  );

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct: (target, [module, imports = {}]) => {
    const host = Object.fromEntries(
      Object.entries(imports).map(([name, functions]) => [
        name,
        each(functions, (run) => counting(run, 'hostCalls')),
      ]),
    );
    const { exports } = new target(module, host);
    return { exports: each(exports, (run) => counting(run, 'routineCalls')) };
  },
});

/** Counts what a method copies: `bytesOf` gets its result, the object and the parameters. */
const watch = (object, name, bytesOf) => {
  const run = object[name];
  object[name] = function watched(...parameters) {
    const result = run.apply(this, parameters);
    counts.copiedBytes += bytesOf(result, this, parameters);
    return result;
  };
};

const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
watch(
  typedArray,
  'set',
  (_, array, [source]) => source.byteLength ?? source.length * array.BYTES_PER_ELEMENT,
);
watch(typedArray, 'slice', (made) => made.byteLength);
watch(Buffer.prototype, 'copy', (copied) => copied);
watch(Buffer, 'concat', (made) => made.length);
