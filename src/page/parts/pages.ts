// Links that choose what a section shows: one of several variants, or a page of a long list.

import { formatCount } from '../../core/wording.ts';
import { html, nothing, raw, type Html } from './html.ts';

export const choiceLink = (text: unknown, address: string, isChosen: boolean): Html =>
  html`<a href="${address}" ${isChosen ? raw('class="chosen" aria-current="true"') : ''}>${text}</a>`;

interface PageOfList {
  /** Noun of the list's entries, such as 'files'. */
  readonly what: string;
  readonly first: number;
  readonly shown: number;
  readonly size: number;
  readonly total: number;
}

export const readFirst = (text: string | null): number => (/^\d{1,6}$/.test(text ?? '') ? Number(text) : 0);

/** `linkTo` returns the address of the page from an index on. */
export const pagesOf = (
  { what, first, shown, size, total }: PageOfList,
  linkTo: (first: number) => string,
): Html => {
  if (first === 0 && shown >= total) return nothing;
  const range = shown === 0 ? 'none' : `${formatCount(first + 1)} to ${formatCount(first + shown)}`;
  return html`<p class="choice">
    ${range} of ${formatCount(total)} ${what}
    ${first === 0 ? nothing : html`<a href="${linkTo(Math.max(0, first - size))}" rel="prev">previous</a>`}
    ${first + shown >= total ? nothing : html`<a href="${linkTo(first + size)}" rel="next">next</a>`}
  </p>`;
};
