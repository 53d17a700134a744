// The checks of this folder find what they look for, and are not fooled by strings, templates and patterns.

import { describe, expect, it } from 'vitest';
import { functionExtents } from './function-lengths.ts';
import { codeOf } from './source-files.ts';

describe('code without its literals', () => {
  it.each([
    { name: 'a line comment', text: 'a(); // }', code: 'a();     ' },
    { name: 'a comment over lines', text: 'a /* {\n } */ b', code: 'a     \n      b' },
    { name: 'a string', text: `a('}')`, code: 'a(   )' },
    { name: 'an escaped quote', text: String.raw`a('\'}')`, code: 'a(     )' },
    { name: 'a template', text: 'a(`}`)', code: 'a(   )' },
    { name: 'code inside a template', text: 'a(`{${b(1)}}`)', code: 'a(    b(1)   )' },
    { name: 'a brace inside code inside a template', text: 'a(`${b({c})}`)', code: 'a(   b({c})  )' },
    { name: 'a template inside a template', text: 'a(`${`}`}`)', code: 'a(        )' },
    { name: 'a pattern', text: 'a = /[/}]/g;', code: 'a =       g;' },
    { name: 'a division', text: 'a = b / c / { d };', code: 'a = b / c / { d };' },
  ])('$name', ({ text, code }) => expect(codeOf(text)).toBe(code));
});

const extents = (text: string) => functionExtents(text).map(({ head, lines }) => [head, lines]);

describe('function extents', () => {
  it.each([
    { name: 'a function', text: 'function a() {\n  b;\n}', found: [['function a() {', 3]] },
    {
      name: 'a generator with a return type in braces',
      text: 'export async function* a(x: { y: 1 }): AsyncGenerator<{ z: 1 }, void> {\n  b;\n}\nc();',
      found: [['export async function* a(x: { y: 1 }): AsyncGenerator<{ z: 1', 3]],
    },
    { name: 'an arrow with a body', text: 'const a = () => {\n  b;\n};', found: [['const a = () => {', 3]] },
    {
      name: 'an arrow without',
      text: 'const a = () =>\n  b(\n    c,\n  );',
      found: [['const a = () =>', 4]],
    },
    { name: 'parameters count', text: 'const a = (\n  b,\n) => {\n};', found: [['const a = (', 4]] },
    { name: 'a method', text: 'class A {\n  b(c) {\n    d;\n  }\n}', found: [['b(c) {', 3]] },
    {
      name: 'a getter of an object',
      text: 'x = {\n  get b() {\n    return 1;\n  },\n};',
      found: [['get b() {', 3]],
    },
    {
      name: 'control flow is none',
      text: 'if (a) {\n  b;\n} else if (c) {\n  d;\n}\nfor (;;) {\n}',
      found: [],
    },
    { name: 'an object is none', text: 'const a = {\n  b: { c: 1 },\n};', found: [] },
    {
      name: 'a string with a brace',
      text: `const a = () => {\n  b('}');\n  c;\n};`,
      found: [['const a = () => {', 4]],
    },
    {
      name: 'functions in a row keep their own lines',
      text: 'function a() {\n}\n\nfunction b() {\n  c;\n}',
      found: [
        ['function a() {', 2],
        ['function b() {', 3],
      ],
    },
    {
      name: 'one inside another',
      text: 'const a = () => {\n  if (x) {\n    y();\n  }\n  const b = () => {\n    c;\n  };\n};',
      found: [
        ['const b = () => {', 3],
        ['const a = () => {', 8],
      ],
    },
  ])('$name', ({ text, found }) => expect(extents(text)).toEqual(found));

  it('a function that is too long is found', () => {
    const text = `export const long = async (a: string): Promise<void> => {\n${'  b();\n'.repeat(70)}};\n`;
    expect(functionExtents(text).map(({ lines }) => lines)).toEqual([72]);
  });
});
