// The checks of this folder are not fooled by strings, templates and patterns.

import { expect, it } from 'vitest';
import { codeOf } from './source-files.ts';

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
])('code without its literals $name', ({ text, code }) => expect(codeOf(text)).toBe(code));
