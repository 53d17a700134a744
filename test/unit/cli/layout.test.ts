// Width, clipping and alignment of text, and control characters in it.

import { describe, expect, it, vi } from 'vitest';
import { alignRows, clip, textWidth, visibleText } from '../../../src/cli/layout.ts';

const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

it.each([
  { name: 'letters take one cell', text: 'abc', width: 3 },
  { name: 'colours take none', text: red('abc'), width: 3 },
  { name: 'Chinese characters take two', text: '气象', width: 4 },
  { name: 'so do rare ones', text: '𠀀', width: 2 },
  { name: 'half-wide kana take one, and so does their mark', text: 'ｶﾞ', width: 2 },
  { name: 'Hangul from its parts takes two', text: '\u1100\u1161\u11a8', width: 2 },
  { name: 'Indic vowels beside their consonant take one', text: 'தமிழ்', width: 4 },
  { name: 'a Thai vowel may take one of its own', text: 'กำ', width: 2 },
  { name: 'combining accents take none', text: 'e\u0301', width: 1 },
  { name: 'emoji take two', text: '🚀', width: 2 },
  { name: 'an emoji that is joined from several takes two', text: '👩‍👩‍👧', width: 2 },
])('textWidth $name', ({ text, width }) => expect(textWidth(text)).toBe(width));

it.each([
  { name: 'what fits stays', text: 'abc', width: 3, wanted: 'abc' },
  { name: 'what does not is cut', text: 'abcd', width: 3, wanted: 'ab…' },
  { name: 'colours are closed after the cut', text: `${red('abc')} d`, width: 3, wanted: red('ab…') },
  { name: 'a wide character is not halved', text: '气象台', width: 4, wanted: '气…' },
  { name: 'nor is a joined emoji', text: '👩‍👩‍👧👩‍👩‍👧', width: 3, wanted: '👩‍👩‍👧…' },
  { name: 'without bound nothing is cut', text: 'abcd', width: Number.POSITIVE_INFINITY, wanted: 'abcd' },
])('clip $name', ({ text, width, wanted }) => expect(clip(text, width)).toBe(wanted));

describe('alignRows', () => {
  it('pads to the widest cell, right and left', () =>
    expect(
      alignRows(
        [
          ['a', '1'],
          ['bbb', '22'],
        ],
        ['left', 'right'],
      ),
    ).toEqual(['a     1', 'bbb  22']));
  it('takes more rows than a call takes arguments, and looks for characters only where one may be wide', () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    const rows = [
      ...Array.from({ length: 300_000 }, (_, place) => [`f/${place}.csv`, 'new']),
      ['气', 'gone'],
    ];
    const lines = alignRows(rows, ['left', 'left']);
    expect(segment.mock.calls.map(([text]) => text)).toEqual(['气', '气']);
    segment.mockRestore();
    expect(lines.slice(-2)).toEqual(['f/299999.csv  new', '气            gone']);
  });
  it('leaves out columns that are empty everywhere', () =>
    expect(
      alignRows(
        [
          ['a', '', 'x'],
          ['b', '', 'y'],
        ],
        ['left', 'left', 'left'],
      ),
    ).toEqual(['a  x', 'b  y']));
});

it.each([
  { name: 'escape sequences are shown, not obeyed', text: '\u001b[2J', wanted: '\\u001b[2J' },
  { name: 'line ends and tabs have names', text: 'a\tb\r\n', wanted: 'a\\tb\\r\\n' },
  { name: 'C1 controls are shown', text: '\u009b', wanted: '\\u009b' },
  { name: 'text direction cannot be turned', text: '\u202eabc', wanted: '\\u202eabc' },
  { name: 'a lone surrogate is shown', text: '\ud800', wanted: '\\ud800' },
  { name: 'other writing stays', text: 'Köln 气象 🚀', wanted: 'Köln 气象 🚀' },
])('visibleText $name', ({ text, wanted }) => expect(visibleText(text)).toBe(wanted));
