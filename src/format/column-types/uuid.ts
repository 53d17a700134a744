// uuid: 8-4-4-4-12 hexadecimal digits, with or without braces, or 32 in a row.

import type { ColumnType, Reader } from './contract.ts';
import { isNot } from './refusal.ts';

const hyphen = 45;

const isHexCode = (code: number): boolean => {
  const lower = code | 32;
  return (code >= 48 && code <= 57) || (lower >= 97 && lower <= 102);
};

const isHyphenated = (text: string, from: number): boolean => {
  for (let at = 0; at < 36; at += 1) {
    const code = text.charCodeAt(from + at);
    const wantsHyphen = at === 8 || at === 13 || at === 18 || at === 23;
    if (wantsHyphen ? code !== hyphen : !isHexCode(code)) return false;
  }
  return true;
};

const isHex = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (!isHexCode(text.charCodeAt(at))) return false;
  return true;
};

const isUuid = (text: string): boolean => {
  if (text.length === 36) return isHyphenated(text, 0);
  if (text.length === 32) return isHex(text);
  return text.length === 38 && text[0] === '{' && text[37] === '}' && isHyphenated(text, 1);
};

const readUuid: Reader = (text) => (isUuid(text) ? text : isNot(text, 'a uuid'));

/** The spelling in which the server gives it back, so that values compare. */
const canonical = (text: string): string => {
  const hex = text.replace(/[{}-]/g, '').toLowerCase();
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
};

export const uuidType: ColumnType = {
  name: 'uuid',
  sql: () => 'uuid',
  optionKeys: [],
  reader: () => readUuid,
  toValue: canonical,
  fromValue: (value) => (typeof value === 'string' ? value : undefined),
};
