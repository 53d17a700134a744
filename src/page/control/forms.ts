// Which forms are ours: sent by a page of ours, from the browser that got it, for what it was made for, not long ago.
//
// The session's cookie is never sent by other sites' pages (SameSite=Strict); the browser says where a form comes from (Origin,
// Sec-Fetch-Site); and each form holds a key that only its own session can have read. Any one of these keeps strangers out.

import { createHash, randomUUID } from 'node:crypto';
import { EtlError } from '../../core/errors/errors.ts';
import { isSame, type Access } from '../access.ts';

/** Long enough to think about it. */
const formMsMax = 60 * 60_000;

const refused = (problem: string): EtlError => new EtlError('ETL_PAGE_FORM', { problem });

/** A request that changes something comes from a page of this origin. Errors: ETL_PAGE_FORM. */
export const refuseForeign = ({ headers, url }: Request): void => {
  const origin = headers.get('origin');
  const host = headers.get('host') ?? new URL(url).host;
  if (origin === null || !URL.canParse(origin))
    throw refused('the browser does not say which page it comes from');
  const from = new URL(origin);
  // Origins of other schemes, such as those of extensions, all are the same one, `null`.
  if (!/^https?:$/.test(from.protocol)) throw refused(`it comes from ${from.protocol}`);
  // A proxy may have taken TLS off, so the scheme is not compared; names and ports are.
  const ours = `${from.protocol}//${host}`;
  if (!URL.canParse(ours) || new URL(ours).origin !== from.origin)
    throw refused(`it comes from ${from.origin}, and this page is ${host}`);
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin')
    throw refused(`the browser says that it comes from elsewhere (${site})`);
};

export interface Forms {
  /** The key of one form. */
  readonly keyOf: (session: string, path: string) => string;
  /** The number of the form that a key belongs to. Errors: ETL_PAGE_FORM. */
  readonly check: (key: string | null, session: string | undefined, path: string) => string;
}

export const createForms = ({ sign }: Access): Forms => {
  const signed = (form: string, expires: string, session: string, path: string): string =>
    sign(JSON.stringify(['form', form, expires, session, path]));
  return {
    keyOf: (session, path) => {
      const [form, expires] = [randomUUID(), String(Date.now() + formMsMax)];
      return [form, expires, signed(form, expires, session, path)].join('.');
    },
    check: (key, session, path) => {
      if (session === undefined) throw refused('the browser has no cookie of this page');
      const [form = '', expires = '', signature = ''] = key?.split('.') ?? [];
      if (!isSame(signature, signed(form, expires, session, path)))
        throw refused('its key is not of this page, or the page was started again since');
      if (Number(expires) < Date.now()) throw refused('it is more than an hour old');
      return form;
    },
  };
};

/** A few letters by which a session is known again, and that are no way in. */
export const visitorOf = (session: string): string =>
  createHash('sha256').update(`visitor ${session}`).digest('hex').slice(0, 8);
