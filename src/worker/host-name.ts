// Host names that our servers accept: after DNS rebinding, a browser sends the attacker's name.

import { isIP } from 'node:net';

/** Returns the host name in lower case, without the port. */
export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

/** True if public DNS cannot make this name lead here: an address, or a name without a dot. */
export const isLocalName = (name: string): boolean =>
  !name.includes('.') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
