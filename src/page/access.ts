// Who may see the page: names in the Host header, and a token.
//
// A page of another site can send requests to 127.0.0.1, and by a name of its own that leads there it could read the answers (DNS
// rebinding). So a request names a host that we know, and brings a cookie that browsers send from our own pages only.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { hostNameOf } from '../worker/host-name.ts';
import type { PageOptions } from './options.ts';

const ownNames = ['127.0.0.1', 'localhost', '[::1]'];

/** 32 bytes: nobody guesses them. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Whether two texts are the same, in a time that does not say where they differ. */
export const isSame = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

export interface Access {
  /** Whether a request names a host of ours. */
  readonly isOurHost: (request: Request) => boolean;
  /** Whether it brings the token: in a cookie, or as `Authorization: Bearer`. */
  readonly isKnown: (request: Request) => boolean;
  /** Whether this is the token, as a printed address has it. */
  readonly isToken: (text: string) => boolean;
  /** The browser that a request comes from, by the cookie that it got from us; undefined: it brings none. */
  readonly sessionOf: (request: Request) => string | undefined;
  /** A new session, and the cookie for its browser. */
  readonly begin: (request: Request) => { readonly session: string; readonly cookie: string };
  /** What nobody can make without the token. */
  readonly sign: (text: string) => string;
}

/** Of programs, which have no cookie. */
const bearerSession = 'bearer';

export const createAccess = (
  token: string | null,
  base: string,
  { hosts, secureCookie = false }: Pick<PageOptions, 'hosts' | 'secureCookie'>,
): Access => {
  const known = hosts === 'any' ? undefined : new Set((hosts ?? ownNames).map(hostNameOf));
  const secret = token ?? newToken();
  const derive = (what: string): string => createHmac('sha256', secret).update(what).digest('base64url');
  // Ports of one machine share their cookies, so each page's has a name of its own.
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
      // Behind a proxy with TLS the request itself came without.
      const isSecure = secureCookie || new URL(url).protocol === 'https:';
      const attributes = `Path=${base || '/'}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
      return { session, cookie: `${cookieName}=${session}.${derive(`cookie ${session}`)}; ${attributes}` };
    },
    sign: (text) => derive(`sign ${text}`),
  };
};
