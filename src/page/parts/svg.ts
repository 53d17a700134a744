// SVG pictures of rectangles. A page can have thousands of rectangles, so this file writes them as
// short strings, and escapes their texts itself.

import { html, raw, seen, type Html } from './html.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => seen(text).replace(/[&<>"']/g, (character) => entities[character]!);

export interface Rect {
  readonly colour: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title?: string;
}

/** Rounds to tenths, which are exact enough in pictures that are 1,000 units wide. */
const short = (number: number): string => String(Math.round(number * 10) / 10);

const rectText = ({ colour, x, y, width, height, title }: Rect): string => {
  const [left, top, wide, high] = [x, y, width, height].map(short);
  const inside = title === undefined ? '' : `<title>${escape(title)}</title>`;
  return `<rect class="${escape(colour)}" x="${left}" y="${top}" width="${wide}" height="${high}">${inside}</rect>`;
};

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly name: string;
}

export const picture = ({ width, height, name }: Picture, rects: readonly Rect[]): Html =>
  html`<svg role="img" aria-label="${name}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
    ${raw(rects.map(rectText).join(''))}
  </svg>`;

export const smallPicture = ({ width, height, name }: Picture, rects: readonly Rect[]): Html =>
  html`<svg class="trend" role="img" aria-label="${name}" width="${width}" height="${height}">
    ${raw(rects.map(rectText).join(''))}
  </svg>`;

export const legend = (entries: readonly (readonly [colour: string, text: string])[]): Html =>
  html`<ul class="legend">
    ${entries.map(
      ([colour, text]) =>
        html`<li>
          <svg width="12" height="12" aria-hidden="true">
            <rect class="${colour}" width="12" height="12"></rect></svg
          >${text}
        </li>`,
    )}
  </ul>`;
