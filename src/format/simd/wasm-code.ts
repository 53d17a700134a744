// WebAssembly written as expressions: just the instructions that the scans of this folder are made of.
//
// Sixteen bytes at a time is the only way to look at every byte of a file and keep up with the disk; JavaScript has no
// such instructions, WebAssembly has. Opcodes: https://webassembly.github.io/spec/core/binary/instructions.html

/** Instructions that leave one value, or none. */
export type Code = readonly number[];

type ValueType = 'i32' | 'i64' | 'v128';

const typeCodes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

/** LEB128, signed: how WebAssembly writes its constants. */
const signed = (value: bigint): number[] => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    const isLast = rest >> 6n === 0n || rest >> 6n === -1n;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
};

/** LEB128, unsigned: sizes and indexes. */
const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];

const unary =
  (...opcode: number[]) =>
  (value: Code): Code => [...value, ...opcode];
const binary =
  (...opcode: number[]) =>
  (left: Code, right: Code): Code => [...left, ...right, ...opcode];

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(BigInt(value))],
  isZero: unary(0x45),
  eq: binary(0x46),
  ne: binary(0x47),
  lt: binary(0x49),
  gt: binary(0x4b),
  le: binary(0x4d),
  add: binary(0x6a),
  sub: binary(0x6b),
  and: binary(0x71),
  or: binary(0x72),
  shl: binary(0x74),
  wrap: unary(0xa7),
  load: (address: Code, offset = 0): Code => [...address, 0x28, 2, ...unsigned(offset)],
  loadByte: (address: Code, offset = 0): Code => [...address, 0x2d, 0, ...unsigned(offset)],
  store: (address: Code, offset: number, value: Code): Code => [
    ...address,
    ...value,
    0x36,
    2,
    ...unsigned(offset),
  ],
};

export const i64 = {
  const: (value: bigint): Code => [0x42, ...signed(value)],
  isZero: unary(0x50),
  extend: unary(0xad),
  extendSigned: unary(0xac),
  trailingZeros: unary(0x7a),
  ones: unary(0x7b),
  add: binary(0x7c),
  sub: binary(0x7d),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  shl: binary(0x86),
  shrSigned: binary(0x87),
  shr: binary(0x88),
  not: (value: Code): Code => i64.xor(value, i64.const(-1n)),
};

export const v128 = {
  load: (address: Code, offset: number): Code => [...address, 0xfd, 0x00, 0, ...unsigned(offset)],
  splat: unary(0xfd, 0x0f),
  eq: binary(0xfd, 0x23),
  or: binary(0xfd, 0x50),
  isAny: unary(0xfd, 0x53),
  /** The top bit of each of sixteen bytes. */
  bits: unary(0xfd, 0x64),
};

/** Instructions one after the other. */
export const sequence = (...parts: readonly Code[]): Code => parts.flat();

export const when = (condition: Code, ...then: readonly Code[]): Code => [
  ...condition,
  0x04,
  0x40,
  ...then.flat(),
  0x0b,
];

export const whenElse = (condition: Code, then: Code, otherwise: Code): Code => [
  ...condition,
  0x04,
  0x40,
  ...then,
  0x05,
  ...otherwise,
  0x0b,
];

/** Checks the condition before every round. */
export const loopWhile = (condition: Code, ...body: readonly Code[]): Code => [
  0x03,
  0x40,
  ...when(condition, ...body, [0x0c, 1]),
  0x0b,
];

/** A variable of a function. */
export interface Local {
  readonly type: ValueType;
  readonly get: Code;
  readonly set: (value: Code) => Code;
}

/** Makes the variables of a function, the parameters first. */
export const locals = <Name extends string>(
  types: Readonly<Record<Name, ValueType>>,
): Record<Name, Local> => {
  const named = Object.entries<ValueType>(types).map(([name, type], index) => [
    name,
    { type, get: [0x20, index], set: (value: Code): Code => [...value, 0x21, index] },
  ]);
  return Object.fromEntries(named) as Record<Name, Local>;
};

/** What this file needs of the global that the types of Node.js 20 do not know. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];

const exported = (name: string, kind: number): number[] => [
  name.length,
  ...Buffer.from(name, 'latin1'),
  kind,
  0,
];

/** A function over i32 parameters, and the memory it works on. */
export interface Routine {
  readonly run: (...parameters: number[]) => number;
  readonly memory: ArrayBuffer;
}

/** "\0asm" and the version. */
const preamble: readonly number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const pageBytes = 65_536;

/** Compiles one function that returns an i32. `variables` begin with its `parameters` parameters. */
export const createRoutine = (
  variables: readonly Local[],
  parameters: number,
  body: Code,
  memoryBytes: number,
): Routine => {
  const own = variables.slice(parameters);
  const code = [...unsigned(own.length), ...own.flatMap(({ type }) => [1, typeCodes[type]]), ...body, 0x0b];
  const parameterTypes = variables.slice(0, parameters).map(({ type }) => typeCodes[type]);
  const bytes = [
    ...preamble,
    ...section(1, [1, 0x60, parameters, ...parameterTypes, 1, typeCodes.i32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...unsigned(Math.ceil(memoryBytes / pageBytes))]),
    ...section(7, [2, ...exported('run', 0), ...exported('memory', 2)]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ];
  const { run, memory } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes)))
    .exports as { run: Routine['run']; memory: { buffer: ArrayBuffer } };
  return { run, memory: memory.buffer };
};
