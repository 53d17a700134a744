// Protects forms against cross-site request forgery: browsers do not send the session cookie from
// other sites (SameSite=Strict), the headers Origin and Sec-Fetch-Site must name our page, and a
// form contains a signed key that is valid for one session and path, for an hour.

import { createHash, randomUUID } from 'node:crypto';
import { EtlError } from '../core/errors/errors.ts';
import { isSame, type Access } from './access.ts';

const formMsMax = 60 * 60_000;

const refused = (problem: string): EtlError => new EtlError('ETL_PAGE_FORM', { problem });

export const refuseForeign = ({ headers, url }: Request): void => {
  const origin = headers.get('origin');
  const host = headers.get('host') ?? new URL(url).host;
  if (origin === null || !URL.canParse(origin)) throw refused('the browser did not send the header Origin');
  const from = new URL(origin);
  // Refuses other schemes, such as those of browser extensions: their URL.origin is `null`.
  if (!/^https?:$/.test(from.protocol)) throw refused(`it comes from ${from.protocol}`);
  // Ignores the scheme, because a proxy may have removed TLS.
  const ours = `${from.protocol}//${host}`;
  if (!URL.canParse(ours) || new URL(ours).origin !== from.origin)
    throw refused(`it comes from ${from.origin}, and this page is ${host}`);
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin')
    throw refused(`it comes from another site (Sec-Fetch-Site: ${site})`);
};

interface Forms {
  readonly keyOf: (session: string, path: string) => string;
  /** Returns the form's id. Errors: ETL_PAGE_FORM. */
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
        throw refused('its key is invalid, or the page was restarted since');
      if (Number(expires) < Date.now()) throw refused('it is more than an hour old');
      return form;
    },
  };
};

/** The session cannot be derived from this name. */
export const visitorOf = (session: string): string =>
  createHash('sha256').update(`visitor ${session}`).digest('hex').slice(0, 8);
