// A name and its value in a list of facts.

import { html, type Html } from './html.ts';

export const fact = (name: string, value: unknown): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
