// Decides who may see the page: by the Host header, and by a token.
//
// Another site's page can send requests to 127.0.0.1, and read the answers if the site's host name
// resolves to 127.0.0.1 (DNS rebinding). So a request needs a known host name, and a cookie that
// browsers send only from our own pages.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { hostNameOf } from '../worker/host-name.ts';
import type { PageOptions } from './options.ts';

const ownNames = ['127.0.0.1', 'localhost', '[::1]'];

export const newToken = (): string => randomBytes(32).toString('base64url');

/** Compares texts in a time that does not depend on where they differ. */
export const isSame = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

export interface Access {
  readonly isOurHost: (request: Request) => boolean;
  readonly isKnown: (request: Request) => boolean;
  readonly isToken: (text: string) => boolean;
  readonly sessionOf: (request: Request) => string | undefined;
  readonly begin: (request: Request) => { readonly session: string; readonly cookie: string };
  readonly sign: (text: string) => string;
}

/** Session of requests that have the token instead of a cookie, as those of programs. */
const bearerSession = 'bearer';

export const createAccess = (
  token: string | null,
  base: string,
  { hosts, secureCookie = false }: Pick<PageOptions, 'hosts' | 'secureCookie'>,
): Access => {
  const known = hosts === 'any' ? undefined : new Set((hosts ?? ownNames).map(hostNameOf));
  const secret = token ?? newToken();
  const derive = (what: string): string => createHmac('sha256', secret).update(what).digest('base64url');
  // Browsers share cookies between all ports of a host, so each page's cookie has its own name.
  const cookieName = `sluice_${derive('name').slice(0, 8)}`;
  const hostOf = (request: Request): string => request.headers.get('host') ?? new URL(request.url).host;

  const cookieOf = (request: Request): string | undefined =>
    request.headers
      .get('cookie')
      ?.split(/; */)
      .find((part) => part.startsWith(`${cookieName}=`))
      ?.slice(cookieName.length + 1);

  const bearerOf = (request: Request): string | undefined =>
    /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];

  const sessionOf = (request: Request): string | undefined => {
    const bearer = bearerOf(request);
    if (token !== null && bearer !== undefined) return isSame(bearer, token) ? bearerSession : undefined;
    const [session = '', signature = ''] = cookieOf(request)?.split('.') ?? [];
    return isSame(signature, derive(`cookie ${session}`)) ? session : undefined;
  };

  return {
    isOurHost: (request) => known === undefined || known.has(hostNameOf(hostOf(request))),
    isToken: (text) => token !== null && isSame(text, token),
    isKnown: (request) => token === null || sessionOf(request) !== undefined,
    sessionOf,
    begin: ({ url }) => {
      const session = newToken();
      // Behind a proxy with TLS, the request itself arrives without TLS.
      const isSecure = secureCookie || new URL(url).protocol === 'https:';
      const attributes = `Path=${base || '/'}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
      return { session, cookie: `${cookieName}=${session}.${derive(`cookie ${session}`)}; ${attributes}` };
    },
    sign: (text) => derive(`sign ${text}`),
  };
};
