// require_auth and channel_binding: how the server may authenticate us.
//
// The checks run before node-postgres answers the server, so a refused server gets no password. A
// server that skips the end of SCRAM is refused, too: it has not proved that it knows the password.

import type { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { usage, type Parameters } from './parameters.ts';

const methods = ['none', 'password', 'md5', 'scram-sha-256', 'gss', 'sspi', 'oauth'] as const;
type Method = (typeof methods)[number];

export const allowedMethods = ({ require_auth: text }: Parameters): ReadonlySet<string> => {
  if (!text) return new Set(methods);
  const words = text.split(',').map((word) => word.trim());
  const excluded = words.filter((word) => word.startsWith('!')).map((word) => word.slice(1));
  const named = excluded.length > 0 ? excluded : words;
  if (excluded.length > 0 && excluded.length < words.length)
    throw usage('require_auth: methods with and without ! cannot be mixed');
  if (!named.every((word) => methods.includes(word as Method)))
    throw usage(`require_auth must be a list of ${methods.join(', ')}`);
  return new Set(excluded.length > 0 ? methods.filter((method) => !excluded.includes(method)) : named);
};

interface Asking {
  on(event: string, listener: (message: { readonly mechanisms?: readonly string[] }) => void): this;
}

/** Adds the checks to a connection, before node-postgres adds its own listeners. */
export const guardAuthentication = (connection: pg.Connection, parameters: Parameters): void => {
  const allowed = allowedMethods(parameters);
  const mustBind = parameters.channel_binding === 'require';
  if (!parameters.require_auth && !mustBind) return;
  let isBound = false;
  let method: Method = 'none';
  let isProved = true;
  const refuse = (what: string): void =>
    void connection.stream.destroy(Object.assign(new Error(what), { code: authenticationRefused }));
  const check = (asked: Method): void => {
    method = asked;
    if (!allowed.has(method))
      refuse(`it asks for authentication by ${method}, and require_auth is ${parameters.require_auth!}`);
    else if (mustBind && !isBound) refuse('it does not bind the authentication to the encrypted channel');
  };
  const asking = connection as pg.Connection & Asking;
  asking.on('authenticationCleartextPassword', () => check('password'));
  asking.on('authenticationMD5Password', () => check('md5'));
  asking.on('authenticationSASL', ({ mechanisms = [] }) => {
    const isEncrypted = (connection.stream as Partial<TLSSocket>).encrypted === true;
    isBound = isEncrypted && mechanisms.includes('SCRAM-SHA-256-PLUS');
    isProved = false;
    check(mechanisms.includes('OAUTHBEARER') ? 'oauth' : 'scram-sha-256');
  });
  asking.on('authenticationSASLFinal', () => (isProved = true));
  asking.on('authenticationOk', () => {
    if (!isProved) refuse('it ended the authentication before it proved that it knows the password');
    else check(method);
  });
};

export const authenticationRefused = 'AUTHENTICATION_REFUSED';
