// HTML as values: texts are escaped unless they were made here. What files and rejects hold goes through this.

import { html, raw } from 'hono/html';
import { formatDate } from '../../amounts.ts';

export type Html = ReturnType<typeof html>;

export { html, raw };

/** Nothing at all. */
export const nothing: Html = html``;

/** A moment, for people and for programs. */
export const time = (at: Date | null): Html =>
  at === null
    ? html`<span class="dim">–</span>`
    : html`<time datetime="${at.toISOString()}">${formatDate(at)}</time>`;

// Control characters and those that turn the direction of text would hide what a field holds.
const hidden = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A text of a file or a declaration: characters that cannot be seen are shown by their numbers. */
export const seen = (text: string): string =>
  text.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
