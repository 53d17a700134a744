// Patterns that are ambiguous, or that do not fit their type.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isRefusal } from '../../../../src/format/types/contract.ts';
import { dateType, timestampType, timestamptzType, timeType } from '../../../../src/format/types/datetime.ts';
import { patternWriter } from '../../../../src/format/types/date-pattern.ts';
import { describeProblems } from './reader-cases.ts';

describeProblems(dateType, [
  [{ format: 'YYYY-MM' }, 'needs year, month and day'],
  [{ format: '' }, 'needs year, month and day'],
  [{ time: 'drop' }, 'needs a format that names the time of day'],
  [{ format: 'YYYY-MM-DDZ', time: 'drop' }, 'needs a format that names the time of day'],
  [{ format: ['YYYY-MM-DD', 'DD.QQ.YYYY'] }, 'format "DD.QQ.YYYY": \'QQ\' is not a token'],
  [
    { format: ['YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY'] },
    'format: "MM/DD/YYYY" reads "01/02/2007" as 2007-01-02 and "DD/MM/YYYY" as 2007-02-01; leave one of them out',
  ],
  [{ format: ['DD/MM/YYYY', 'M/D/YYYY'] }, 'leave one of them out'],
  [{ format: ['YYYYMMDD', 'DDMMYYYY'] }, 'leave one of them out'],
  [{ format: ['DD.MM.YY', 'YY.MM.DD'] }, 'leave one of them out'],
  [{ format: 'DD.MM.YYYY', pivot: 30 }, 'pivot needs a format with a year of two digits'],
  [{ format: 'DD.MM.YY', pivot: 101 }, 'pivot is a whole number from 0 to 100'],
  [{ format: 'yyyy-MM-DD' }, "'yyyy' is not a token"],
  [{ format: 'YYYY-MM-DDD' }, "'DDD' is not a token"],
  [{ format: 'YYYY-MM-DD é' }, 'is not a token'],
  [{ format: 'YYYYMD' }, 'cannot follow it directly'],
  [{ format: 'YYYY-MM-M-DD' }, 'names the month twice'],
]);
describeProblems(timestampType, [
  [{ format: 'YYYY-MM-DD hh:mm' }, 'needs A'],
  [{ format: 'YYYY-MM-DD HH:mm A' }, 'use hh'],
  [{ format: 'YYYY-MM-DD mm' }, 'mm needs HH'],
  [{ format: 'YYYY-MM-DD HH:mm.SSS' }, 'SSS needs ss'],
  [{ format: 'YYYY-MM-DD HH:mm:ss.SSSSSSSSSS' }, 'is not a token'],
  [{ format: ['YYYYMMDDHH', 'YYMMDDHHmm'] }, 'leave one of them out'],
  [{ format: 'YYYY-MM-DD HH:mmZ' }, 'use timestamptz'],
]);
describeProblems(timestamptzType, [
  [{ format: 'YYYY-MM-DD HH:mm' }, 'or zone'],
  [{ format: 'YYYY-MM-DD HHZ:mm' }, 'cannot follow it directly'],
  [{ format: 'YYYY-MM-DDZ' }, 'Z needs HH'],
  [{ zone: 'Europe/Berln' }, 'nor a name such as'],
  [{ zone: 'UTC', ambiguous: 'later' }, 'a zone whose clocks change'],
  [{ ambiguous: 'later' }, 'a zone whose clocks change'],
  [{ zone: '+1:00' }, 'neither'],
  [{ zone: '+16:00' }, 'neither'],
]);
describeProblems(timeType, [
  [{ spelling: 'server', format: 'HH:mm' }, 'format contradicts that'],
  [{ format: 'YYYY HH' }, 'a time has no year'],
  [{ format: ':' }, 'needs an hour'],
]);

// Two patterns without a conflict must never read a text as two values. Tried with texts of both.
it('two formats of one column read every text alike', () => {
  const oneOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
  const day = fc
    .tuple(oneOf('YYYY', 'YY'), oneOf('MM', 'M'), oneOf('DD', 'D'))
    .chain((parts) => fc.shuffledSubarray(parts, { minLength: 3 }))
    .chain((parts) => oneOf('', '', '/', '.').map((separator) => parts.join(separator)));
  const clock = fc
    .tuple(
      oneOf('HH', 'H', 'hhA', 'A h'),
      oneOf('', ':', '.'),
      oneOf('', 'mm', 'mm', 'mmss', 'mm:ss.S', 'mmssSSS', 'mmss.SSSSSSSS'),
      oneOf('', 'Z'),
    )
    .map((parts) => parts.join(''));
  const both = fc
    .tuple(day, oneOf('', ' ', 'T', '.'), clock)
    .chain(([first, between, second]) => oneOf(first + between + second, second + between + first));
  const pattern = fc.oneof(day, clock, both);
  /** Patterns of digits only, so that a text of one can match many others. */
  const digits = ['YYYY', 'YY'].flatMap((year) =>
    [
      [year, 'MM', 'DD'],
      [year, 'DD', 'MM'],
      ['MM', 'DD', year],
      ['MM', year, 'DD'],
      ['DD', 'MM', year],
      ['DD', year, 'MM'],
    ].flatMap((parts) => ['', 'HH', 'HHmm'].map((time) => parts.join('') + time)),
  );
  const isFine = (kind: keyof typeof kinds, format: string): boolean =>
    kinds[kind].optionsProblem!({ format, ...zones[kind] }) === undefined;
  const kinds = { date: dateType, timestamp: timestampType, timestamptz: timestamptzType, time: timeType };
  const zones: Readonly<Partial<Record<keyof typeof kinds, object>>> = { timestamptz: { zone: 'UTC' } };
  const number = (most: number): fc.Arbitrary<number> => fc.integer({ min: 1, max: most });
  const sample = fc.record({
    year: fc.oneof(number(9999), fc.integer({ min: 1900, max: 2100 })),
    month: number(12),
    day: number(28),
    hour: fc.nat(23),
    minute: fc.nat(59),
    second: fc.nat(59),
    fraction: fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 9, maxLength: 9 }),
    offset: fc.constantFrom('Z', '+01', '-0230', '+12:00', '-11:45', '+01:02:03'),
  });
  let compared = 0;
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const glued = kind === 'timestamptz' ? [] : digits;
    const fine = [...glued, ...fc.sample(pattern, { numRuns: 60, seed: 7 })].filter((each) =>
      isFine(kind, each),
    );
    const samples = fc.sample(sample, { numRuns: 60, seed: 7 });
    for (const [index, one] of fine.entries())
      for (const other of fine.slice(index + 1, index + (digits.includes(one) ? digits.length : 12))) {
        const options = { ...zones[kind], round: kind !== 'date' };
        if (kinds[kind].optionsProblem!({ format: [one, other], ...zones[kind] }) !== undefined) continue;
        const [left, right] = [one, other].map((format) => kinds[kind].reader({ ...options, format }));
        for (const text of [one, other].flatMap((format) => samples.map(patternWriter(format)))) {
          const [first, second] = [left!(text), right!(text)];
          if (isRefusal(first) || isRefusal(second)) continue;
          compared += Number(one !== other);
          expect({ one, other, text, value: second }).toEqual({ one, other, text, value: first });
        }
      }
  }
  expect(compared).toBeGreaterThan(100);
});
