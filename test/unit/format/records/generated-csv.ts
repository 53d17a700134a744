import fc from 'fast-check';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { words } from '../../../helpers/words.ts';

export const dialects: fc.Arbitrary<CsvOptions> = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|', '||', '§', '::'),
    quote: fc.constantFrom('"', "'", null),
    hasBackslash: fc.boolean(),
    trim: fc.constantFrom(false, false, true, 'outside' as const),
    quotes: fc.constantFrom('strict' as const, 'lenient' as const),
    lineEnd: fc.constantFrom(
      'auto' as const,
      'auto' as const,
      'auto' as const,
      'lf' as const,
      'crlf' as const,
      'cr' as const,
    ),
    comment: fc.constantFrom(null, null, '#', '//'),
    comments: fc.constantFrom('lines' as const, 'infix' as const),
  })
  .map(({ hasBackslash, comments, ...named }) => {
    const options = named.comment === null ? named : { ...named, comments };
    if (options.quote === null) return { ...options, quotes: 'strict' as const };
    return hasBackslash ? { ...options, escape: '\\' } : options;
  });

/** Pieces of text that are hard to read next to each other. */
const hostileBits = ['\n', '\r', '\r\n', ' ', '\t', ...words('" \' \\ , ; | || § :: : # // a é 𝄞 ""')];
export const hostile = fc
  .array(fc.constantFrom(...hostileBits), { maxLength: 24 })
  .map((bits) => bits.join(''));

/** Files with many 64-byte groups, most of them regular. */
export const longTexts = fc
  .array(
    fc.oneof(
      {
        weight: 40,
        arbitrary: fc.constantFrom('a', 'bcd', 'é', '12.5', ',', '""', '"a"', '"b,""c"', '"\n"'),
      },
      {
        weight: 8,
        arbitrary: fc.constantFrom('\n', '\n', '\r\n', ',"a\r\nb"\n', '\n\n', ' ', 'x'.repeat(70)),
      },
      { weight: 1, arbitrary: fc.constantFrom(...hostileBits) },
    ),
    { minLength: 30, maxLength: 200, size: 'max' },
  )
  .map((bits) => bits.join(''));

/** The same, with nearly all quotes in the right positions. */
export const tidyTexts = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'a',
        '',
        '"a"',
        '"b,""c"',
        '"\n"',
        '"x\r\ny"',
        '""',
        `"${'z'.repeat(60)}"`,
        ...hostileBits,
      ),
      fc.constantFrom(',', ',', ',', '\n', '\r\n'),
    ),
    { minLength: 30, maxLength: 200, size: 'max' },
  )
  .map((bits) => bits.flat().join(''));
