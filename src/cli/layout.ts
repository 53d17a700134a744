// Measures, clips, wraps and aligns text for terminals, and makes control characters visible.

import { onOneLine, visible } from '../core/wording.ts';
import type { Paint } from './paint.ts';

// oxlint-disable-next-line no-control-regex -- the expression matches escape sequences
const ansiSequence = /(\u001b\[[0-9;?]*[A-Za-z])/;

// Characters of two cells in common terminals: CJK, Hangul, fullwidth forms.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}/u;
// Characters of no cell: marks, and Hangul vowels and finals that join the character before them.
const combining = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u;

const cellsOf = (character: string): number => {
  if (character < '\u0300') return 1;
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
};

const segmenter = new Intl.Segmenter();
/** Printable ASCII: its width is its length, so the slow segmenter is not needed. */
const plain = /^[\x20-\x7e]*$/;

/** Splits into characters as a person sees them: a joined emoji is one character of two cells. */
const charactersOf = (text: string): readonly { readonly segment: string; readonly width: number }[] =>
  Array.from(segmenter.segment(text), ({ segment }) => ({
    segment,
    width: emoji.test(segment) ? 2 : Array.from(segment, cellsOf).reduce((sum, cells) => sum + cells, 0),
  }));

export const textWidth = (text: string): number => {
  if (plain.test(text)) return text.length;
  let width = 0;
  text.split(ansiSequence).forEach((part, place) => {
    if (place % 2 === 0) for (const character of charactersOf(part)) width += character.width;
  });
  return width;
};

const clipPlain = (text: string, width: number): string => {
  let used = 0;
  let kept = '';
  for (const character of charactersOf(text)) {
    used += character.width;
    if (used > width) break;
    kept += character.segment;
  }
  return kept;
};

export const clip = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text;
  let left = width - 1;
  let result = '';
  text.split(ansiSequence).forEach((part, place) => {
    if (place % 2 === 1) {
      result += part;
      return;
    }
    if (left < 0) return;
    const kept = clipPlain(part, left);
    const cut = kept.length < part.length;
    result += cut ? `${kept}…` : kept;
    left = cut ? -1 : left - textWidth(kept);
  });
  return result;
};

export type Alignment = 'left' | 'right';

const pad = (text: string, width: number, alignment: Alignment): string => {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(text)));
  return alignment === 'right' ? blanks + text : text + blanks;
};

/** Returns the lines of a table. Two blanks separate columns; columns without text are left out. */
export const alignRows = (
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[],
): string[] => {
  const widths = alignments.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, textWidth(row[column] ?? '')), 0),
  );
  const used = widths.flatMap((width, column) => (width > 0 ? [column] : []));
  return rows.map((row) =>
    used
      .map((column) => pad(row[column] ?? '', widths[column] ?? 0, alignments[column] ?? 'left'))
      .join('  ')
      .trimEnd(),
  );
};

export const alignTitled = (
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[],
  paint: Paint,
): string[] => {
  const [title = '', ...lines] = alignRows([titles, ...rows], alignments);
  return [paint('dim', title), ...lines];
};

/** Omits columns until all lines fit into `width`. `spare` has their indexes, in order. */
export const alignFitting = (
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[],
  width: number,
  spare: readonly number[],
): string[] => {
  for (let left = 0; ; left += 1) {
    const without = new Set(spare.slice(0, left));
    const lines = alignRows(
      rows.map((row) => row.filter((_, column) => !without.has(column))),
      alignments.filter((_, column) => !without.has(column)),
    );
    if (left === spare.length || lines.every((line) => textWidth(line) <= width)) return lines;
  }
};

const piecesOf = (word: string, width: number): string[] => {
  if (textWidth(word) <= width) return [word];
  const head = clipPlain(word, width);
  return [head, ...piecesOf(word.slice(head.length), width)];
};

export const wrap = (text: string, width: number): string[] => {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (const piece of text.split(' ').flatMap((word) => piecesOf(word, Math.max(width, 2)))) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(piece) <= width)
      lines[lines.length - 1] = `${last} ${piece}`;
    else lines.push(piece);
  }
  return lines;
};

export const wrapUnder = (text: string, width: number, indent: number): string[] => {
  const [first = '', ...others] = wrap(text, width);
  const rest = others.length === 0 ? [] : wrap(text.slice(first.length).trimStart(), width - indent);
  return [first, ...rest.map((line) => `${' '.repeat(indent)}${line}`)];
};

export const wrapIndented = (text: string, width: number): string[] =>
  wrap(text, width - 4).map((line, index) => `${index === 0 ? '  ' : '    '}${line}`);

/** Makes control characters visible, so that data cannot control the terminal. Returns one line. */
export const visibleText = (text: string): string => onOneLine(text);

export const visibleLines = (text: string): string[] => visible(text, '\n').split('\n');
