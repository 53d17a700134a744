// From functions written as expressions to a module that runs, with the functions of the host that it calls.

import { unsigned, type Code, type Local, type ValueType } from './wasm-code.ts';

const typeCodes: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

/** A function of a module: its parameters are the first of its variables. */
export interface FunctionCode {
  readonly variables: readonly Local[];
  readonly parameters: number;
  readonly result: 'i32' | 'i64';
  readonly body: Code;
}

/** Puts a function together whose variables begin with its parameters. */
export const functionOf = (
  variables: Readonly<Record<string, Local>>,
  parameters: number,
  body: Code,
  result: FunctionCode['result'] = 'i32',
): FunctionCode => ({ variables: Object.values(variables), parameters, result, body });

/** What this file needs of the global that the types of Node.js 20 do not know. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imported: object) => { readonly exports: object };
};

const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];

const nameOf = (name: string): number[] => [name.length, ...Buffer.from(name, 'latin1')];

/** A function of the host, over i32. */
export interface ImportedFunction {
  readonly parameters: number;
  readonly run: (...parameters: number[]) => number;
}

/** A compiled module: its last function, and the memory it works on. */
export interface Routine {
  readonly run: (...parameters: number[]) => number;
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
}

/** "\0asm" and the version. */
const preamble: readonly number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

export const pageBytes = 65_536;

const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];

const signature = (parameters: readonly ValueType[], result: ValueType): number[] => [
  0x60,
  ...vector(parameters.map((type) => [typeCodes[type]])),
  1,
  typeCodes[result],
];

const importedName = (index: number): string => `f${index}`;

const codeOf = ({ variables, parameters, body }: FunctionCode): number[] => {
  const code = [
    ...vector(variables.slice(parameters).map(({ type }) => [1, typeCodes[type]])),
    ...body,
    0x0b,
  ];
  return [...unsigned(code.length), ...code];
};

/** Compiles functions that call each other by their places; the last one is what the host runs. */
export const createRoutine = (
  functions: readonly FunctionCode[],
  memoryBytes: number,
  imported: readonly ImportedFunction[] = [],
): Routine => {
  const signatures = [
    ...imported.map(({ parameters }) =>
      signature(
        Array.from({ length: parameters }, () => 'i32' as const),
        'i32',
      ),
    ),
    ...functions.map(({ variables, parameters, result }) =>
      signature(
        variables.slice(0, parameters).map(({ type }) => type),
        result,
      ),
    ),
  ];
  const last = signatures.length - 1;
  const bytes = [
    ...preamble,
    ...section(1, vector(signatures)),
    ...section(
      2,
      vector(imported.map((_, index) => [1, 0x68, ...nameOf(importedName(index)), 0, ...unsigned(index)])),
    ),
    ...section(3, vector(functions.map((_, index) => unsigned(imported.length + index)))),
    ...section(5, [1, 0, ...unsigned(Math.ceil(memoryBytes / pageBytes))]),
    ...section(
      7,
      vector([
        [...nameOf('run'), 0, ...unsigned(last)],
        [...nameOf('memory'), 2, 0],
      ]),
    ),
    ...section(10, vector(functions.map(codeOf))),
  ];
  const host = Object.fromEntries(imported.map(({ run }, index) => [importedName(index), run]));
  return new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes)), { h: host })
    .exports as Routine;
};
