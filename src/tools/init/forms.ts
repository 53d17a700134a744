// The form of a text: all texts of a form are kept, or changed, in the same way by a type.

import { bit } from './candidates.ts';

const digitsForm =
  (isTime: boolean) =>
  (digits: string, at: number, text: string): string => {
    const first = digits.startsWith('0');
    const isZero = !isTime && /^0+$/.test(digits);
    if (isTime && text[at - 1] === '.') return `${digits.length}${digits.endsWith('0') ? '0' : ''}`;
    if (digits.length === 1) return isZero ? 'z' : 'd';
    return `${first ? '0' : ''}${isZero ? 'z' : ''}${digits.length < 4 ? digits.length : 4}`;
  };

/**
 * Returns a description of signs, zeros, separators and lengths. The digits of a number after its
 * point and before an exponent count as some digits or as zeros.
 */
export const formOf = (text: string, mask: number): string => {
  if ((mask & bit.json) !== 0) return '';
  if ((mask & bit.uuid) !== 0) return `${text[0] === '{'}${/[A-F]/.test(text)}${/[a-f]/.test(text)}`;
  const isTime = text.includes(':');
  return text
    .replace(/[a-z]+/g, 'a')
    .replace(/[A-Z]+/g, 'A')
    .replace(isTime ? /(?<!:)\d+/g : /\d+/g, digitsForm(isTime))
    .replace(isTime ? /:\d\d/g : /(?!)/, ':mm');
};
