// Program: a PostgreSQL of its own that listens on every address of its host, until the host ends. Prints its URL.
//
//   node run-typescript.mjs '' hosts-server.ts <directory of its socket>

import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataName } from '../../src/db/embedded/cluster.ts';
import { serverSettings } from './fault-database.ts';
import { ask, startOwnServer } from './own-server.ts';

const { server, logFile } = await startOwnServer({
  ...serverSettings,
  listen_addresses: '*',
  unix_socket_directories: process.argv[3]!,
});
appendFileSync(join(dirname(logFile), dataName, 'pg_hba.conf'), 'host all all 10.77.0.0/24 scram-sha-256\n');
await ask(server.url, 'select pg_reload_conf()');
console.log(server.url);
setInterval(() => undefined, 60_000);
