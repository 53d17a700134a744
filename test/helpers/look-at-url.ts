// Program: prints the file at a URL, which may be of this machine.
//
//   node run-typescript.mjs '' look-at-url.ts <url>          what Node reads when it starts, such as NODE_EXTRA_CA_CERTS, counts

import { http } from '../../src/input/sources/http/http.ts';
import { accessWith } from './source-access.ts';

const location = process.argv[3]!;
const access = accessWith({ allowPrivate: true, timeouts: { retryMs: 0 } });
const listed = { table: 't', name: location, location };
const file = { ...listed, ...(await http.look(listed, access)) };
for await (const block of http.open(file, access, 0, file.bytes)) process.stdout.write(block);
process.exit();
