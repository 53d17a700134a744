// Recognizes usual values of a column by their bytes: numbers, dates, times and uuids whose form occurred
// before. Classifying each value as a string would take twenty times as long.

import { COLON, MINUS, POINT, SPACE, ZERO } from '../../core/characters.ts';
import { isDay, isTimeOfDay } from '../../format/types/calendar.ts';
import { bit, dateBit, timeBit } from './candidates.ts';
import type { Group } from './contract.ts';

/** The group of texts that all remaining candidates of a column accept. */
export interface Usual {
  readonly group: Group;
  readonly isUsual: (usual: Usual, bytes: Buffer, from: number, to: number) => boolean;
  /**
   * Forms of texts in the group. All texts of a form have the same candidates, and the same range
   * except for the least and the greatest number.
   */
  readonly forms: Set<number>;
  lastForm: number;
  /** Form of the text tested last; `noForm` if the text must be classified as a string. */
  form: number;
}

const noForm = -1;

const isKnown = (usual: Usual, form: number): boolean => {
  usual.form = form;
  if (form === usual.lastForm) return true;
  if (!usual.forms.has(form)) return false;
  usual.lastForm = form;
  return true;
};

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

/** Numbers of more digits are not exact as doubles. */
const exactDigits = 15;
const inexact = 1e-12;
const integersMax = 31;
const decimalsMax = 22;
const powers = Array.from({ length: decimalsMax + 1 }, (_, index) => 10 ** index);

const isUsualNumber = (usual: Usual, bytes: Buffer, from: number, to: number): boolean => {
  usual.form = noForm;
  const isNegative = bytes[from] === MINUS;
  const start = isNegative ? from + 1 : from;
  let at = start;
  let value = 0;
  while (at < to && bytes[at] === ZERO) at += 1;
  const zeros = at - start;
  for (; at < to && isDigit(bytes[at]!); at += 1) value = value * 10 + bytes[at]! - ZERO;
  const integers = at - start;
  if (at < to && bytes[at] === POINT)
    for (at += 1; at < to && isDigit(bytes[at]!); at += 1) value = value * 10 + bytes[at]! - ZERO;
  const decimals = at - start - integers - 1;
  if (at < to || to === start || integers > integersMax || decimals > decimalsMax) return false;
  const size = decimals > 0 ? value / powers[decimals]! : value;
  // The server writes -0 without its sign.
  if (isNegative && value === 0) return false;
  const form = (((((zeros << 5) | integers) << 5) | (decimals + 1)) << 1) | Number(isNegative);
  if (!isKnown(usual, form)) return false;
  const { group } = usual;
  const number = isNegative ? -size : size;
  if (integers + Math.max(0, decimals) > exactDigits) {
    const error = size * inexact;
    return number - error > group.least && number + error < group.most;
  }
  if (number < group.least) group.least = number;
  if (number > group.most) group.most = number;
  return true;
};

const twoDigits = (bytes: Buffer, at: number): number => {
  const tens = bytes[at]! - ZERO;
  const ones = bytes[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : 100;
};

const isDateAt = (bytes: Buffer, at: number): boolean => {
  const [century, year] = [twoDigits(bytes, at), twoDigits(bytes, at + 2)];
  return (
    century < 100 &&
    year < 100 &&
    bytes[at + 7] === MINUS &&
    isDay(100 * century + year, twoDigits(bytes, at + 5), twoDigits(bytes, at + 8))
  );
};

const dateLength = 'YYYY-MM-DD'.length;
const minuteLength = 'HH:mm'.length;
const secondLength = 'HH:mm:ss'.length;
const fractionMax = '.ssssss'.length;
const offsetMax = '+HH:mm'.length;
const LETTER_T = 84;

const dateForm = 0;
const noSeparator = 1;

const isUsualMoment = (usual: Usual, bytes: Buffer, from: number, to: number): boolean => {
  usual.form = noForm;
  const hasDate = bytes[from + 4] === MINUS;
  if (hasDate && (to - from < dateLength || !isDateAt(bytes, from))) return false;
  let at = hasDate ? from + dateLength : from;
  if (hasDate && at === to) return isKnown(usual, dateForm);
  const separator = hasDate ? bytes[at]! : noSeparator;
  if (hasDate && separator !== SPACE && separator !== LETTER_T) return false;
  if (hasDate) at += 1;
  const hasSeconds = at + minuteLength < to && bytes[at + minuteLength] === COLON;
  const end = at + (hasSeconds ? secondLength : minuteLength);
  const second = hasSeconds ? twoDigits(bytes, at + 6) : 0;
  if (end > to || bytes[at + 2] !== COLON) return false;
  if (!isTimeOfDay(twoDigits(bytes, at), twoDigits(bytes, at + 3), second)) return false;
  at = end;
  if (at < to && bytes[at] === POINT) for (at += 1; at < to && isDigit(bytes[at]!);) at += 1;
  if (at - end > fractionMax || to - at > offsetMax) return false;
  // The server writes decimals of a second without zeros at the end.
  const isCut = at > end && bytes[at - 1] === ZERO;
  let form = ((separator * 2 + Number(hasSeconds)) * 8 + at - end) * 2 + Number(isCut);
  for (; at < to; at += 1) {
    if (bytes[at]! >= 128) return false;
    form = form * 128 + bytes[at]!;
  }
  return isKnown(usual, form);
};

const uuidLength = 36;
const isDash = new Uint8Array(uuidLength);
for (const at of [8, 13, 18, 23]) isDash[at] = 1;
/** Per byte: a digit, a small letter or a capital of a uuid. The form of a uuid has all that occur. */
const hexKinds = new Uint8Array(256);
for (const [place, characters] of ['0123456789', 'abcdef', 'ABCDEF'].entries())
  for (const character of characters) hexKinds[character.charCodeAt(0)] = 1 << place;

const isUsualUuid = (usual: Usual, bytes: Buffer, from: number, to: number): boolean => {
  usual.form = noForm;
  if (to - from !== uuidLength) return false;
  let form = 0;
  for (let at = 0; at < uuidLength; at += 1) {
    const byte = bytes[from + at]!;
    const kind = isDash[at] === 1 ? Number(byte === MINUS) : hexKinds[byte]!;
    if (kind === 0) return false;
    form |= kind;
  }
  return isKnown(usual, form);
};

/** Not `float` alone: whether a double writes a number as the file does depends on its value. */
const numbers = bit.whole | bit.zeros | bit.decimal;
const moments = dateBit('YYYY-MM-DD') | bit.isoTime | bit.isoTimestamp | bit.timestamptz;
const timestamps = bit.isoTimestamp | bit.dateAndTime;

/** Formats of digits alone: they accept a number or refuse it by its value, not by its form. */
const ofDigits = dateBit('YYYYMMDD') | timeBit('HHmm');

/** Returns undefined for a group of texts that have no form here. */
export const usualOf = (group: Group): Usual | undefined => {
  const isOfForms = (group.mask & ofDigits) === 0;
  const kinds = [
    [numbers, isUsualNumber],
    [moments, isUsualMoment],
    [bit.uuid, isUsualUuid],
  ] as const;
  const [, isUsual] = (isOfForms && kinds.find(([mask]) => (group.mask & mask) !== 0)) || [];
  return isUsual && { group, isUsual, forms: new Set(), lastForm: noForm, form: noForm };
};

/** Adds the form of the text tested last, which was classified as a member of the group. */
export const addForm = (usual: Usual): void => {
  const { form, forms, group } = usual;
  // A time of day other than midnight extends the group's range once.
  if (form !== noForm && ((group.mask & timestamps) === 0 || group.hasTimeOfDay)) forms.add(form);
};
