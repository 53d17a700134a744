// Writes a WebAssembly module from functions made of expressions.

import { ok as assert } from 'node:assert';
import { hostName, pageBytes, type ModuleBytes } from './wasm-instance.ts';
import {
  bytesOf,
  call as callIndex,
  locals,
  unsigned,
  type Code,
  type Local,
  type ValueType,
} from './wasm-code.ts';

const typeCodes: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

export type Call = (name: string, ...values: readonly Code[]) => Code;

export interface FunctionCode {
  readonly variables: Readonly<Record<string, Local>>;
  readonly parameters: number;
  readonly result: 'i32' | 'i64';
  readonly body: (call: Call) => Code;
}

export const functionOf = <Name extends string>(
  parameters: number,
  types: Readonly<Record<Name, ValueType>>,
  body: (variables: Readonly<Record<Name, Local>>, call: Call) => Code,
  result: FunctionCode['result'] = 'i32',
): FunctionCode => {
  const variables = locals(types);
  return { variables, parameters, result, body: (call) => body(variables, call) };
};

/** `imported` gives the number of i32 parameters of each host function. */
export interface ModuleSource {
  readonly memoryBytes: number;
  readonly imported: Readonly<Record<string, number>>;
  readonly functions: Readonly<Record<string, FunctionCode>>;
}

const sized = (content: Code): Code => {
  const bytes = bytesOf(content);
  return [unsigned(bytes.length), bytes];
};

const section = (id: number, content: Code): Code => [id, sized(content)];

const nameOf = (name: string): Code => sized([...Buffer.from(name, 'latin1')]);

const preamble: readonly number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const vector = (items: readonly Code[]): Code => [unsigned(items.length), items];

const signature = (parameters: readonly ValueType[], result: ValueType): Code => [
  0x60,
  vector(parameters.map((type) => [typeCodes[type]])),
  1,
  typeCodes[result],
];

const nameMap = (names: readonly string[]): Code =>
  vector(names.map((name, index) => [unsigned(index), nameOf(name)]));

/** Writes the names that stack traces, profilers and disassembly show. */
const nameSection = ({ imported, functions }: ModuleSource): Code => {
  const own = Object.keys(imported).length;
  const variables = Object.values(functions).map((code, index) => [
    unsigned(own + index),
    nameMap(Object.keys(code.variables)),
  ]);
  return section(0, [
    nameOf('name'),
    section(1, nameMap([...Object.keys(imported), ...Object.keys(functions)])),
    section(2, vector(variables)),
  ]);
};

const parametersOf = ({ variables, parameters }: FunctionCode): readonly ValueType[] =>
  Object.values(variables)
    .slice(0, parameters)
    .map(({ type }) => type);

const linker = ({ imported, functions }: ModuleSource): Call => {
  const taken = new Map([
    ...Object.entries(imported),
    ...Object.entries(functions).map(([name, { parameters }]) => [name, parameters] as const),
  ]);
  const names = [...taken.keys()];
  return (name, ...values) => {
    assert(taken.get(name) === values.length, `no function ${name} takes ${values.length} values`);
    return callIndex(names.indexOf(name), ...values);
  };
};

const codeOf = ({ variables, parameters, body }: FunctionCode, link: Call): Code => {
  const own = Object.values(variables).slice(parameters);
  return sized([vector(own.map(({ type }) => [1, typeCodes[type]])), body(link), 0x0b]);
};

export const moduleBytes = <Source extends ModuleSource>(source: Source): ModuleBytes<Source> => {
  const { memoryBytes, imported, functions } = source;
  const [hosts, own] = [Object.entries(imported), Object.entries(functions)];
  const signatures = [
    ...hosts.map(([, parameters]) => signature(Array<ValueType>(parameters).fill('i32'), 'i32')),
    ...own.map(([, code]) => signature(parametersOf(code), code.result)),
  ];
  const link = linker(source);
  return new Uint8Array(
    bytesOf([
      preamble,
      section(1, vector(signatures)),
      section(2, vector(hosts.map(([name], index) => [nameOf(hostName), nameOf(name), 0, unsigned(index)]))),
      section(3, vector(own.map((_, index) => unsigned(hosts.length + index)))),
      section(5, [1, 0, unsigned(Math.ceil(memoryBytes / pageBytes))]),
      section(
        7,
        vector([
          ...own.map(([name], index) => [nameOf(name), 0, unsigned(hosts.length + index)]),
          [nameOf('memory'), 2, 0],
        ]),
      ),
      section(10, vector(own.map(([, code]) => codeOf(code, link)))),
      nameSection(source),
    ]),
  );
};
