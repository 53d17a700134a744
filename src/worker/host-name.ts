// Which names in the Host header a server of ours answers. A browser that a foreign name led here (DNS rebinding) names that one.

import { isIP } from 'node:net';

/** The name of a Host header without its port, in lower case. */
export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

/** Whether nobody can make this name lead here by means of public DNS: an address, or a name without a dot. */
export const isLocalName = (name: string): boolean =>
  !name.includes('.') || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
