// HTML as values: texts are escaped unless they were made here. What files and rejects hold goes through this.

import { html as htmlOf, raw } from 'hono/html';
import { formatDate } from '../../core/amounts.ts';
import { visible } from '../../core/wording.ts';

export type Html = ReturnType<typeof htmlOf>;

export { raw };

/** Values that are sent back to us, or lead somewhere, stay as they are. */
const isExact = (before: string): boolean => /(?:value|href|action)="$/.test(before);

const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shown);
  // What `html` and `raw` have made are no plain strings.
  return typeof value === 'string' ? seen(value) : value;
};

/** HTML in which texts are escaped and everything in them can be seen. */
export const html = (strings: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  htmlOf(strings, ...values.map((value, index) => (isExact(strings[index]!) ? value : shown(value))));

/** Nothing at all. */
export const nothing: Html = html``;

/** A moment, for people and for programs. */
export const time = (at: Date | null): Html =>
  at === null
    ? html`<span class="dim">–</span>`
    : html`<time datetime="${at.toISOString()}">${formatDate(at)}</time>`;

/** A text of a file or a declaration: characters that cannot be seen are shown by their numbers. */
export const seen = (text: string): string => visible(text, '\t\n');

/** A name and its value in a list of facts. */
export const fact = (name: string, value: unknown): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
