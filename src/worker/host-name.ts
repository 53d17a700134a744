// Host names in requests: in a DNS rebinding attack, a browser sends the attacker's host name.

import { isIP } from 'node:net';

export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

/** True for an address or a name without a dot, which no attacker's DNS can direct to us. */
export const isLocalName = (name: string): boolean =>
  !name.includes('.') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
