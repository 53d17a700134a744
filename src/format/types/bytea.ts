// Column type bytea: bytes in hexadecimal, in base64, or as the server writes them.

import { notFromBytes } from '../encoder/kinds.ts';
import { putInt32, reserve, type RowBytes } from './row-bytes.ts';
import { oneOfOption, type ColumnType, type Reader } from './contract.ts';
import { isNot } from './refusal.ts';

export interface ByteaOptions {
  /** How the bytes are written. Default: as the server does, `\xdead` or with escapes `\255`. */
  readonly encoding?: 'hex' | 'base64';
}

const prefix = '\\x';

/** Decoding ends at what is no digit, so that the number of bytes tells. */
const isHex = (digits: string): boolean => Buffer.from(digits, 'hex').length * 2 === digits.length;

const readHex: Reader = (text) => {
  const digits = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return isHex(digits) ? `${prefix}${digits.toLowerCase()}` : isNot(text, 'a bytea in hexadecimal');
};

/** Also of the alphabet for addresses, also without `=` at the end. */
const readBase64: Reader = (text) => {
  const digits = text.replace(/={1,2}$/, '');
  const bytes = Buffer.from(digits, 'base64');
  const isFilled = digits.length === text.length || text.length % 4 === 0;
  return isFilled && digits.length % 4 !== 1 && bytes.length === Math.floor((digits.length * 3) / 4)
    ? canonical(bytes)
    : isNot(text, 'a bytea in base64');
};

const canonical = (bytes: Buffer): string => `${prefix}${bytes.toString('hex')}`;

const readServers: Reader = (text) => {
  if (text.startsWith(prefix)) {
    // The server skips blanks between bytes.
    const runs = text.slice(prefix.length).split(/[ \t\r\n]+/);
    return runs.every(isHex) ? `${prefix}${runs.join('').toLowerCase()}` : isNot(text, 'a bytea');
  }
  let isWhole = true;
  // One character a byte, so that characters beyond ASCII keep their bytes.
  const bytes = Buffer.from(text)
    .toString('latin1')
    .replace(/\\(\\|[0-3][0-7]{2})?/g, (_, code?: string) => {
      isWhole &&= code !== undefined;
      return code === '\\' ? code : String.fromCharCode(parseInt(code ?? '', 8));
    });
  return isWhole ? canonical(Buffer.from(bytes, 'latin1')) : isNot(text, 'a bytea');
};

const readers = { hex: readHex, base64: readBase64 };

const encodeBytea = (text: string, out: RowBytes): void => {
  const length = (text.length - prefix.length) / 2;
  reserve(out, 4 + length);
  putInt32(out, length);
  out.at += out.bytes.write(text.slice(prefix.length), out.at, 'hex');
};

export const byteaType: ColumnType<string, ByteaOptions> = {
  sql: () => 'bytea',
  options: { encoding: oneOfOption('hex', 'base64') },
  reader: ({ encoding }) => (encoding === undefined ? readServers : readers[encoding]),
  bytes: () => notFromBytes,
  encode: encodeBytea,
  value: () => ({ kind: 'string' }),
  toValue: (text) => text,
  fromValue: (value) => (typeof value === 'string' ? value : undefined),
};
