// Lines of a password file are read as libpq reads them.

import { expect, it } from 'vitest';
import { passwordIn } from '../../../../src/db/connect/password-file.ts';

const wanted = ['db', '5432', 'weather', 'me'];

it.each([
  ['db:5432:weather:me:sesame', 'sesame'],
  ['*:*:*:*:sesame', 'sesame'],
  ['db:5432:weather:me:first\ndb:5432:weather:me:second', 'first'],
  ['other:*:*:*:no\r\ndb:*:*:*:yes\r\n', 'yes'],
  ['#db:*:*:*:no\n*:*:*:me:yes', 'yes'],
  [String.raw`db:*:*:*:a\:b\\c`, String.raw`a:b\c`],
  ['db:*:*:*:a:b', 'a:b'],
  ['db:*:*:*:', ''],
  [String.raw`d\b:*:*:*:yes`, 'yes'],
  [String.raw`\*:*:*:*:no`, undefined],
  ['db*:*:*:*:no', undefined],
  ['db:5433:weather:me:no', undefined],
  ['db:5432:weather:you:no', undefined],
  ['db:5432:weather:me', undefined],
  ['', undefined],
])('%j: %j', (text, password) => expect(passwordIn(text, wanted)).toBe(password));
