// Patterns whose every part has a fixed place, such as YYYYMMDDHHmm: the row routine reads these from bytes.

import { notFromBytes, type ByteKind } from '../../encoder/kinds.ts';

const partPattern = /YYYY|MM|DD|HH|mm|ss/g;

/** Where the parts and the other characters of a pattern stand; `notFromBytes` when that is not fixed. */
export const fixedPlaces = (pattern: string, kind: 'date' | 'timestamp'): ByteKind => {
  if (!/^(?:YYYY|MM|DD|HH|mm|ss|[^\p{L}\d])*$/u.test(pattern) || /[^\x20-\x7e]/.test(pattern))
    return notFromBytes;
  const places = new Map([...pattern.matchAll(partPattern)].map(({ 0: part, index }) => [part, index]));
  const placeOf = (part: string): number => places.get(part) ?? -1;
  const literals = [...pattern].flatMap((character, at) =>
    /[^\p{L}]/u.test(character) ? [[at, character.charCodeAt(0)] as const] : [],
  );
  const day = {
    length: pattern.length,
    year: placeOf('YYYY'),
    month: placeOf('MM'),
    day: placeOf('DD'),
    literals,
  };
  return kind === 'date'
    ? { kind, ...day }
    : { kind, ...day, hour: placeOf('HH'), minute: placeOf('mm'), second: placeOf('ss') };
};
