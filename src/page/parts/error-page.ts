// The page for an error: its code, message and hint, but nothing internal.

import { asEtlError, codeOf, EtlError, type ErrorCode } from '../../core/errors/errors.ts';
import { html, nothing, spansOf, type Html } from './html.ts';
import type { ViewContext } from './view.ts';
import { isKnownCode } from '../../report/run-words.ts';

export interface PageError {
  readonly status: 400 | 403 | 404 | 409 | 500 | 503;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const statuses: Partial<Record<ErrorCode, PageError['status']>> = {
  ETL_RUN_UNKNOWN: 404,
  ETL_SCHEDULE_UNKNOWN: 404,
  ETL_USAGE: 400,
  ETL_PIPELINE_UNKNOWN: 404,
  ETL_RUN_OVER: 409,
  ETL_PAGE_BUSY: 503,
  ETL_PAGE_READ_ONLY: 403,
  ETL_PAGE_FORM: 403,
  ETL_PAGE_FORBIDDEN: 403,
  ETL_CONNECT: 503,
  ETL_CONNECT_AUTH: 503,
  ETL_CONNECT_DATABASE: 503,
  ETL_CONNECT_TLS: 503,
  ETL_SERVER_LOST: 503,
  ETL_EMBEDDED_START: 503,
};

/** SQLSTATE query_canceled, which the page's statement timeout causes. */
const statementTimeout = '57014';

/** SQLSTATEs for a text with a zero byte, which can come only from the URL of a request. */
const zeroByte = new Set(['22021', '22P05']);

const asError = (thrown: unknown): EtlError => {
  const code = codeOf(thrown) ?? '';
  if (code === statementTimeout) return new EtlError('ETL_PAGE_BUSY');
  if (!zeroByte.has(code)) return asEtlError(thrown);
  return new EtlError('ETL_USAGE', { problem: 'the address contains a zero byte', hint: '' });
};

export const asPageError = (thrown: unknown): PageError => {
  const { code, message, hint } = asError(thrown);
  // Hides the message of an unexpected error, which may contain internal details.
  if (code === 'ETL_INTERNAL')
    return {
      status: 500,
      code,
      message: 'this page cannot be shown because of an internal error',
      hint: 'The log of the process that serves the page has the details.',
    };
  return { status: statuses[code] ?? 503, code, message, hint };
};

/** Links to the code's documentation. */
export const codeLink = (code: string, href: ViewContext['href']): Html => {
  const text = html`<code class="bad">${code}</code>`;
  return isKnownCode(code) ? html`<a href="${href(`/errors/${code}`)}">${text}</a>` : text;
};

/** The page's script shows this button, and copies `text`. */
const copyButton = (name: string, text: string): Html =>
  html`<button type="button" data-copy="${text}" hidden>${name}</button>`;

interface Copied {
  /** The run, when and where. */
  readonly about: string;
  readonly json: object;
}

/** `copied`: what the copy buttons add to the error; undefined: no buttons. */
export const errorBody = (
  { code, message, hint }: Omit<PageError, 'status'>,
  href: ViewContext['href'],
  copied?: Copied,
): Html => {
  const link = isKnownCode(code) ? html`<a href="${href(`/errors/${code}`)}">What it means</a>` : nothing;
  const text = [`${code}: ${message}`, hint, copied?.about].filter(Boolean).join('\n');
  const json = JSON.stringify({ code, message, hint, ...copied?.json }, null, 2);
  return html`<div class="error">
    <p><code class="bad">${code}</code> ${link}</p>
    <pre>${message}</pre>
    ${hint === '' ? nothing : html`<p>${spansOf(hint)}</p>`}
    ${copied === undefined ? nothing : html`<p>${copyButton('Copy as text', text)} ${copyButton('Copy as JSON', json)}</p>`}
  </div>`;
};
