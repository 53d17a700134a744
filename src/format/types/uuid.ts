// Column type uuid.

import { putInt32, reserve, type RowBytes } from './row-bytes.ts';
import type { ColumnType, Reader } from './contract.ts';
import { isNot } from './refusal.ts';
import { serverUuid, spellingOption, type SpellingOptions } from './server-spelling.ts';

const hyphenated = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const braced = /^\{[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\}$/i;
const bareHex = /^[\da-f]{32}$/i;

const readWide: Reader = (text) => serverUuid(text) ?? isNot(text, 'a uuid');

const isUuid = (text: string): boolean => hyphenated.test(text) || bareHex.test(text) || braced.test(text);

const readUuid: Reader = (text) => (isUuid(text) ? text : isNot(text, 'a uuid'));

/** Returns PostgreSQL's own spelling, so that equal values are equal texts. */
const canonical = (text: string): string => {
  const hex = text.replace(/[{}-]/g, '').toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

const encodeUuid = (text: string, out: RowBytes): void => {
  reserve(out, 20);
  putInt32(out, 16);
  out.bytes.write(text.replace(/[{}-]/g, ''), out.at, 'hex');
  out.at += 16;
};

export const uuidType: ColumnType<string, SpellingOptions> = {
  sql: () => 'uuid',
  options: { spelling: spellingOption },
  reader: ({ spelling }) => (spelling === 'server' ? readWide : readUuid),
  bytes: () => ({ kind: 'uuid' }),
  encode: encodeUuid,
  value: () => ({ kind: 'uuid' }),
  toValue: canonical,
  fromValue: (value) => (typeof value === 'string' ? value : undefined),
};
