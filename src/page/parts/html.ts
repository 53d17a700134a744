// Builds HTML. Escapes texts and makes invisible characters visible, except in results of `html`
// and `raw`.

import { html as htmlOf, raw } from 'hono/html';
import { visible } from '../../core/wording.ts';

export type Html = ReturnType<typeof htmlOf>;

export { raw };

/** True before the value of an attribute that must not change: form values and addresses. */
const isExact = (before: string): boolean => /(?:value|href|action)="$/.test(before);

const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shown);
  // Results of `html` and `raw` are objects, not strings.
  return typeof value === 'string' ? seen(value) : value;
};

export const html = (strings: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  htmlOf(strings, ...values.map((value, index) => (isExact(strings[index]!) ? value : shown(value))));

export const nothing: Html = html``;

const utc = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Shows UTC. The page's script shows the visitor's time zone instead, and UTC in a tooltip. */
export const time = (at: Date | null): Html =>
  at === null
    ? html`<span class="dim">–</span>`
    : html`<time datetime="${at.toISOString()}">${utc(at)}</time>`;

/** Like `time`. The script adds how long ago it was, or how long until then. */
export const aged = (at: Date): Html =>
  html`<time class="aged" datetime="${at.toISOString()}">${utc(at)}</time>`;

export const seen = (text: string): string => visible(text, '\t\n');

/** Shows parts between backticks as code. */
export const spansOf = (text: string): readonly (Html | string)[] =>
  text.split('`').map((span, index) => (index % 2 === 1 ? html`<code>${span}</code>` : span));

export const fact = (name: string, value: unknown): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
