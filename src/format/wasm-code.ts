// Writes WebAssembly as expressions, because only its instructions on 16 bytes keep up with the
// disk. Opcodes: https://webassembly.github.io/spec/core/binary/instructions.html

/** Bytes and nested code that leave one value or none on WebAssembly's stack. */
export type Code = readonly (number | Code)[];

const append = (code: Code, bytes: number[]): void => {
  for (const part of code)
    if (typeof part === 'number') bytes.push(part);
    else append(part, bytes);
};

/** Flattens code once: flattening in each expression would copy bytes once per level. */
export const bytesOf = (code: Code): readonly number[] => {
  const bytes: number[] = [];
  append(code, bytes);
  return bytes;
};

export type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

const signed = (value: bigint): number[] => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    const isLast = rest >> 6n === 0n || rest >> 6n === -1n;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
};

export const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];

const unary =
  (...opcode: number[]) =>
  (value: Code): Code => [value, ...opcode];
const binary =
  (...opcode: number[]) =>
  (left: Code, right: Code): Code => [left, right, ...opcode];

const load =
  (...opcode: number[]) =>
  (address: Code, offset = 0): Code => [address, ...opcode, ...unsigned(offset)];
const store =
  (...opcode: number[]) =>
  (address: Code, offset: number, value: Code): Code => [address, value, ...opcode, ...unsigned(offset)];

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(BigInt(value))],
  isZero: unary(0x45),
  eq: binary(0x46),
  ne: binary(0x47),
  ltSigned: binary(0x48),
  lt: binary(0x49),
  gt: binary(0x4b),
  le: binary(0x4d),
  geSigned: binary(0x4e),
  ge: binary(0x4f),
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  div: binary(0x6e),
  mod: binary(0x70),
  and: binary(0x71),
  or: binary(0x72),
  xor: binary(0x73),
  shl: binary(0x74),
  shrSigned: binary(0x75),
  shr: binary(0x76),
  rotate: binary(0x77),
  trailingZeros: unary(0x68),
  ones: unary(0x69),
  wrap: unary(0xa7),
  bitsOfSingle: unary(0xbc),
  load: load(0x28, 2),
  loadByte: load(0x2d, 0),
  loadShort: load(0x2f, 1),
  store: store(0x36, 2),
  storeByte: store(0x3a, 0),
  storeShort: store(0x3b, 1),
};

export const i64 = {
  const: (value: bigint): Code => [0x42, ...signed(value)],
  isZero: unary(0x50),
  eq: binary(0x51),
  ltSigned: binary(0x53),
  gtSigned: binary(0x55),
  gt: binary(0x56),
  le: binary(0x58),
  leadingZeros: unary(0x79),
  extend: unary(0xad),
  extendSigned: unary(0xac),
  trailingZeros: unary(0x7a),
  ones: unary(0x7b),
  add: binary(0x7c),
  sub: binary(0x7d),
  mul: binary(0x7e),
  div: binary(0x80),
  mod: binary(0x82),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  shl: binary(0x86),
  shrSigned: binary(0x87),
  shr: binary(0x88),
  rotate: binary(0x89),
  not: (value: Code): Code => i64.xor(value, i64.const(-1n)),
  bitsOfDouble: unary(0xbd),
  load: load(0x29, 3),
  store: store(0x37, 3),
};

const sixteenBytes = (opcode: number, bytes: readonly number[]): Code => [0xfd, opcode, ...bytes];

/** Operations on 16 bytes. Names that end in 16 treat them as eight 16-bit numbers. */
export const v128 = {
  load: load(0xfd, 0x00, 0),
  store: store(0xfd, 0x0b, 0),
  const: (bytes: readonly number[]): Code => sixteenBytes(0x0c, bytes),
  all: (byte: number): Code => sixteenBytes(0x0c, Array<number>(16).fill(byte)),
  /** Indexes 0 to 15 are bytes of `left`, 16 to 31 bytes of `right`. */
  shuffle: (left: Code, right: Code, indexes: readonly number[]): Code => [
    ...left,
    ...right,
    ...sixteenBytes(0x0d, indexes),
  ],
  splat: unary(0xfd, 0x0f),
  eq: binary(0xfd, 0x23),
  ltSigned: binary(0xfd, 0x25),
  lt: binary(0xfd, 0x26),
  gt: binary(0xfd, 0x28),
  and: binary(0xfd, 0x4e),
  or: binary(0xfd, 0x50),
  isAny: unary(0xfd, 0x53),
  isAll: unary(0xfd, 0x63),
  bits: unary(0xfd, 0x64),
  add: binary(0xfd, 0x6e),
  sub: binary(0xfd, 0x71),
  narrow16: binary(0xfd, 0x66),
  shl16: binary(0xfd, 0x8b, 0x01),
  shr16: binary(0xfd, 0x8d, 0x01),
  add16: binary(0xfd, 0x8e, 0x01),
  mul16: binary(0xfd, 0x95, 0x01),
  dot16: binary(0xfd, 0xba, 0x01),
};

export const sequence = (...parts: readonly Code[]): Code => parts;

export const when = (condition: Code, ...then: readonly Code[]): Code => [condition, 0x04, 0x40, then, 0x0b];

export const whenElse = (condition: Code, then: Code, otherwise: Code): Code => [
  condition,
  0x04,
  0x40,
  then,
  0x05,
  otherwise,
  0x0b,
];

export const choose = (condition: Code, then: Code, otherwise: Code): Code => [
  then,
  otherwise,
  condition,
  0x1b,
];

export const loopWhile = (condition: Code, ...body: readonly Code[]): Code => [
  0x03,
  0x40,
  when(condition, ...body, [0x0c, 1]),
  0x0b,
];

export interface Local {
  readonly type: ValueType;
  readonly get: Code;
  readonly set: (value: Code) => Code;
}

export const locals = <Name extends string>(
  types: Readonly<Record<Name, ValueType>>,
): Record<Name, Local> => {
  const named = Object.entries<ValueType>(types).map(([name, type], index) => [
    name,
    { type, get: [0x20, index], set: (value: Code): Code => [value, 0x21, index] },
  ]);
  return Object.fromEntries(named) as Record<Name, Local>;
};

export const leaveWith = (value: Code): Code => [value, 0x0f];

export const call = (index: number, ...values: readonly Code[]): Code => [values, 0x10, ...unsigned(index)];
