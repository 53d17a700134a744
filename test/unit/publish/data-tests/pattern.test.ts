// Which patterns are translated for PostgreSQL; test/integration/data-tests.test.ts compares matches.

import { describe, expect, it } from 'vitest';
import { PatternRefused, serverPattern } from '../../../../src/publish/data-tests/matches.ts';

describe('a pattern', () => {
  it.each([
    [/^\d{5}$/, '***:^[0-9]{5}$'],
    [/a-b|.*?\./s, '***:a\\u002db|.*\\u002e'],
    [/^(?<n>[a-cX]+)$/i, '***:^(?:[a-cXA-Cx]+)$'],
    [/\u{1f600}/u, '***:\\U0001f600'],
  ])('%s becomes %s', (pattern, says) => expect(serverPattern(pattern)).toBe(says));

  it.each([
    /(?=a)/,
    /(?<!a)b/,
    /(a)\1/,
    /\bword/,
    /\p{L}/u,
    /a{256}/,
    /a/m,
    /a/gu,
    /a/iu,
    /é/i,
    /[\u0100-\ue000]/i,
    new RegExp('[]'),
    /\0/,
    /\cA/,
    /a{,3}/,
    /x]/,
    /😀+/,
    /(?<n>a)\k<n>/,
    /[\d-z]/,
    /\ud83d/,
  ])('%s is refused', (pattern) => expect(() => serverPattern(pattern)).toThrow(PatternRefused));
});
