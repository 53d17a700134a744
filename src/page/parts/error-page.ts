// The page for an error: our message and hint, and nothing internal.

import { asEtlError, codeOf, EtlError, type ErrorCode } from '../../core/errors/errors.ts';
import { html, nothing, type Html } from './html.ts';

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

/** SQLSTATE of a statement that took too long. */
const isSlow = (thrown: unknown): boolean => codeOf(thrown) === '57014';

/** SQLSTATEs of a text with a byte of zero, which only an address can have brought. */
const isUnreadable = (thrown: unknown): boolean => ['22021', '22P05'].includes(codeOf(thrown) ?? '');

const asError = (thrown: unknown): EtlError => {
  if (isSlow(thrown)) return new EtlError('ETL_PAGE_BUSY');
  if (!isUnreadable(thrown)) return asEtlError(thrown);
  return new EtlError('ETL_USAGE', {
    problem: 'the address has a byte of zero, which no text has',
    hint: '',
  });
};

export const asPageError = (thrown: unknown): PageError => {
  const { code, message, hint } = asError(thrown);
  // What we did not foresee may say anything.
  if (code === 'ETL_INTERNAL')
    return {
      status: 500,
      code,
      message: 'this page could not be made',
      hint: 'The log of its process says why.',
    };
  return { status: statuses[code] ?? 503, code, message, hint };
};

export const errorBody = ({ code, message, hint }: Omit<PageError, 'status'>): Html =>
  html`<div class="error">
    <p><code>${code}</code></p>
    <pre>${message}</pre>
    ${hint === '' ? nothing : html`<p>${hint}</p>`}
  </div>`;
