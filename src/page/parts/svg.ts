// Rectangles of the pictures: thousands of them are in one page, so each is one short line, and texts in them are escaped here.

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
  /** Name of a class of ours. */
  readonly colour: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Shown to those who point at it. */
  readonly title?: string;
}

/** Tenths of a unit: a picture is a thousand units wide. */
const short = (number: number): string => String(Math.round(number * 10) / 10);

const rectText = ({ colour, x, y, width, height, title }: Rect): string => {
  const [left, top, wide, high] = [x, y, width, height].map(short);
  const inside = title === undefined ? '' : `<title>${escape(title)}</title>`;
  return `<rect class="${escape(colour)}" x="${left}" y="${top}" width="${wide}" height="${high}">${inside}</rect>`;
};

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** For those who do not see it. */
  readonly name: string;
}

/** A picture that is as wide as there is room. */
export const picture = ({ width, height, name }: Picture, rects: readonly Rect[]): Html =>
  html`<svg role="img" aria-label="${name}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
    ${raw(rects.map(rectText).join(''))}
  </svg>`;

/** The same of its own size. */
export const smallPicture = ({ width, height, name }: Picture, rects: readonly Rect[]): Html =>
  html`<svg class="trend" role="img" aria-label="${name}" width="${width}" height="${height}">
    ${raw(rects.map(rectText).join(''))}
  </svg>`;

/** What a colour means. */
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
