// Refuses two patterns of one column that read some text as two values. Found by trying sample
// timestamps.

import { isRefusal } from './contract.ts';
import { patternParts, patternWriter, type Sample } from './date-pattern.ts';
import { readerOf, type Composing, type DateKind } from './pattern-reader.ts';
import { quoted } from './refusal.ts';

/** Numbers from 1 to 12 are valid months, days, hours, minutes and seconds. */
const smallNumbers = 12;

/** Timestamps whose parts are small and all different, so that swapped parts change the value. */
function* samples(hasOffsets: boolean): Generator<Sample> {
  for (let first = 0; first < smallNumbers; first += 1) {
    const number = (place: number): number => 1 + ((first + place) % smallNumbers);
    const two = (place: number): string => String(number(place)).padStart(2, '0');
    const hours = `${two(9)}:${two(10)}`;
    const offsets = [
      'Z',
      ...[two(9), two(9) + two(10), hours, `${hours}:${two(11)}`].flatMap((size) => [`+${size}`, `-${size}`]),
    ];
    for (const century of [20, 19, number(5), 0]) {
      for (const offset of hasOffsets ? offsets : ['']) {
        for (const half of [0, 12]) {
          yield {
            year: 100 * century + number(6),
            month: number(0),
            day: number(1),
            hour: (number(2) % 12) + half,
            minute: number(3),
            second: number(4),
            fraction: `${two(7)}${two(8)}${two(9)}${two(10)}${two(11)}`,
            offset,
          };
        }
      }
    }
  }
}

/** Describes a text that both patterns read, as two different values. */
const conflictOf = (
  kind: DateKind,
  [one, other]: readonly [string, string],
  composing: Composing,
  valueOf: (canonical: string) => unknown,
): string | undefined => {
  // Without dropsTime, each sample's time of day would be refused, and hide that the days differ.
  const trial = { ...composing, dropsTime: true };
  const [readOne, readOther] = [readerOf(kind, one, trial), readerOf(kind, other, trial)];
  const hasOffsets = [one, other].some((pattern) => patternParts(pattern).has('offset'));
  const writers = [one, other].map(patternWriter);
  const texts = new Set([...samples(hasOffsets)].flatMap((sample) => writers.map((write) => write(sample))));
  for (const text of texts) {
    const [left, right] = [readOne(text), readOther(text)];
    if (left === undefined || right === undefined || isRefusal(left) || isRefusal(right)) continue;
    if (valueOf(left) !== valueOf(right)) {
      return `${quoted(one)} reads ${quoted(text)} as ${left} and ${quoted(other)} as ${right}; leave one of them out`;
    }
  }
  return undefined;
};

/** Describes a text that two of the patterns read as two values, or returns undefined. */
export const conflictOfPatterns = (
  kind: DateKind,
  patterns: readonly string[],
  composing: Composing,
  valueOf: (canonical: string) => unknown,
): string | undefined => {
  for (const [index, one] of patterns.entries())
    for (const other of patterns.slice(index + 1)) {
      const conflict = conflictOf(kind, [one, other], composing, valueOf);
      if (conflict !== undefined) return conflict;
    }
  return undefined;
};
