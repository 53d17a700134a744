// A host of the public Internet leads to this machine, by a redirect or by its name: nothing of it is read.
//
// A network namespace has a public host of its own, and an /etc/hosts that names it; no packet leaves the machine.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { asRoot } from '../helpers/as-root.ts';
import { typeScriptArgs } from '../helpers/run-typescript.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-hosts-'));
afterAll(() => rmSync(directory, { recursive: true }));

const hosts = `127.0.0.1 localhost inside.example both.example\n203.0.113.7 outside.example both.example\n`;
const enter =
  'mount --bind "$1" /etc/hosts && ip link set lo up && ip addr add 203.0.113.7/32 dev lo && shift && exec "$@"';

it('is read where it is public, and refused where it is private', async () => {
  const file = join(directory, 'hosts');
  writeFileSync(file, hosts);
  const program = typeScriptArgs(join(import.meta.dirname, '../helpers/public-host.ts'), []);
  const out = await asRoot(
    ...(['unshare', '--net', '--mount', 'sh', '-c', enter, 'sh', file, process.execPath] as const),
    ...program,
  );
  const { found, asked } = JSON.parse(out) as { found: Record<string, unknown>; asked: number };
  const refused = (address: string) =>
    expect.stringMatching(new RegExp(`^ETL_SOURCE_ADDRESS: .*${address},? a private address`));
  expect(found).toEqual({
    '203.0.113.7/a.csv': 4,
    'outside.example/a.csv': 4,
    'inside.example/a.csv': refused('inside.example is 127.0.0.1'),
    'both.example/a.csv': refused('both.example is 127.0.0.1'),
    'outside.example/to-address': refused('it is'),
    'outside.example/to-name': refused('inside.example is 127.0.0.1'),
    'outside.example/to-localhost': refused('localhost is (?:127.0.0.1|::1)'),
  });
  expect(asked).toBe(0);
});
