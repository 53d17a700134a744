// Host names that our servers accept: after DNS rebinding, a browser sends the attacker's name.

import { isIP } from 'node:net';

export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

/** Public DNS cannot direct these names here: addresses, and names without a dot. */
export const isLocalName = (name: string): boolean =>
  !name.includes('.') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
