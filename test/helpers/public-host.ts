// Program: a network in which 203.0.113.7 (TEST-NET-3, RFC 5737) is a public host and loopback a private one. Looks at files of
// both, and prints what came of each.
//
//   node run-typescript.mjs '' public-host.ts          as root, in a network and with an /etc/hosts of its own

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { codeOf, messageOf } from '../../src/core/errors/errors.ts';
import { http } from '../../src/input/sources/http/http.ts';
import { accessWith } from './source-access.ts';

const portOf = async (host: string, listener: Parameters<typeof createServer>[1]): Promise<number> => {
  const server = createServer(listener).listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

let asked = 0;
const inside = await portOf('127.0.0.1', (_, response) => {
  asked += 1;
  response.end('secret,of,the,machine\n');
});
const redirects: Readonly<Record<string, string>> = {
  '/to-address': `http://127.0.0.1:${inside}/a.csv`,
  '/to-name': `http://inside.example:${inside}/a.csv`,
  '/to-localhost': `http://localhost:${inside}/a.csv`,
};
const outside = await portOf('203.0.113.7', ({ url = '' }, response) => {
  const location = redirects[url];
  if (location === undefined) response.end('a,b\n');
  else response.writeHead(302, { location }).end();
});

const looks = [
  `http://203.0.113.7:${outside}/a.csv`,
  `http://outside.example:${outside}/a.csv`,
  `http://inside.example:${inside}/a.csv`,
  // A name with a public and a private address: either could be connected to.
  `http://both.example:${outside}/a.csv`,
  ...Object.keys(redirects).map((path) => `http://outside.example:${outside}${path}`),
];
const found: Record<string, unknown> = {};
for (const location of looks) {
  const file = { table: 't', name: location, location };
  const access = accessWith({ timeouts: { retryMs: 0 } });
  const { hostname, pathname } = new URL(location);
  found[`${hostname}${pathname}`] = await http.look(file, access).then(
    ({ bytes }) => bytes,
    (error: unknown) => `${codeOf(error)}: ${messageOf(error)}`,
  );
}
console.log(JSON.stringify({ found, asked }));
process.exit();
