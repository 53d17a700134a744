// Column types json and jsonb: texts that JSON.parse accepts and the server can store.

import { BACKSLASH } from '../../core/characters.ts';
import { jsonDepthMax } from '../../core/limits.ts';
import { putInt32, putText, reserve, utf8BytesMax, type RowBytes } from './row-bytes.ts';
import type { ColumnType, NoOptions, Reader, Refusal, ValueEncoder } from './contract.ts';
import { emptyShape, scanDecimal } from './number-text.ts';
import { fitsUnconstrained } from './numeric.ts';
import { isNot, quoted, refuse } from './refusal.ts';

const quote = 34;

const afterString = (text: string, at: number): number => {
  let end = at + 1;
  while (text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end + 1;
};

// Each level of nesting takes a character, so short texts need no loop.
const isTooDeep = (text: string): boolean => {
  if (text.length <= jsonDepthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = afterString(text, at) - 1;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > jsonDepthMax) return true;
  }
  return false;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const readJson: Reader = (text) => {
  if (!isJson(text)) return isNot(text, 'valid JSON');
  return isTooDeep(text)
    ? refuse('range', `${quoted(text)} is nested deeper than ${jsonDepthMax} levels`)
    : text;
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const escapedUnit = (text: string, at: number): number =>
  text.charCodeAt(at) === BACKSLASH && text[at + 1] === 'u'
    ? Number.parseInt(text.slice(at + 2, at + 6), 16)
    : -1;

const stringProblem = (text: string, start: number, end: number): string | undefined => {
  let at = text.indexOf('\\', start);
  while (at !== -1 && at < end) {
    const unit = escapedUnit(text, at);
    let next = at + (unit === -1 ? 2 : 6);
    if (unit === 0) return '\\u0000';
    if (isLowSurrogate(unit)) return 'an unpaired surrogate';
    if (isHighSurrogate(unit)) {
      if (!isLowSurrogate(escapedUnit(text, next))) return 'an unpaired surrogate';
      next += 6;
    }
    at = text.indexOf('\\', next);
  }
  return undefined;
};

const numberEnd = /[^-+.0-9eE]/g;

const afterNumber = (text: string, at: number): number => {
  numberEnd.lastIndex = at;
  return numberEnd.exec(text)?.index ?? text.length;
};

const numberProblem = (number: string): Refusal | undefined => {
  const shape = emptyShape();
  scanDecimal(number, shape);
  return fitsUnconstrained(number, shape);
};

const jsonbProblem = (text: string): Refusal | undefined => {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = afterString(text, at);
      const problem = stringProblem(text, at, end);
      if (problem !== undefined) {
        return refuse('type', `${quoted(text)} holds ${problem}, which jsonb cannot store`);
      }
      at = end - 1;
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const end = afterNumber(text, at);
      const problem = numberProblem(text.slice(at, end));
      if (problem !== undefined) return problem;
      at = end - 1;
    }
  }
  return undefined;
};

// jsonb can store every JSON text without \u escapes, exponents and very long numbers.
const mayBeUnstorable = /\\u|[0-9][eE]|[0-9.]{16000}/;

const readJsonb: Reader = (text) => {
  const read = readJson(text);
  if (read !== text || !mayBeUnstorable.test(text)) return read;
  return jsonbProblem(text) ?? text;
};

const jsonText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON has no bigint and no cycles.
    return undefined;
  }
};

const encodeJsonb = (text: string, out: RowBytes): void => {
  reserve(out, 5 + utf8BytesMax(text));
  const length = out.bytes.write(text, out.at + 5);
  putInt32(out, length + 1);
  out.bytes[out.at] = 1;
  out.at += length + 1;
};

const jsonColumnType = (
  name: 'json' | 'jsonb',
  read: Reader,
  encode: ValueEncoder,
): ColumnType<unknown, NoOptions> => ({
  sql: () => name,
  options: {},
  reader: () => read,
  bytes: () => ({ kind: 'json', isBinary: Number(name === 'jsonb') }),
  encode,
  value: () => ({ kind: 'any' }),
  toValue: (text): unknown => JSON.parse(text),
  fromValue: jsonText,
});

export const jsonType = jsonColumnType('json', readJson, putText);

export const jsonbType = jsonColumnType('jsonb', readJsonb, encodeJsonb);
