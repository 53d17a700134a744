// The user who runs the server, and the directories that this user can reach.

import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  chooseAccount,
  firstClosed,
  parsePasswd,
  permissionsOf,
} from '../../../../src/db/embedded/account.ts';

const root = 'root:x:0:0:root:/root:/bin/bash';
const nobody = 'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin';
const postgres = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';
const bob = 'bob:x:1000:1000::/home/bob:/bin/sh';

describe('chooseAccount', () => {
  const rows = [
    { name: 'postgres before nobody', lines: [root, nobody, postgres], owner: undefined, chosen: 'postgres' },
    {
      name: 'nobody when there is no postgres',
      lines: [root, bob, nobody],
      owner: undefined,
      chosen: 'nobody',
    },
    { name: 'none when there is neither', lines: [root, bob], owner: undefined, chosen: undefined },
    { name: 'the owner of existing data', lines: [root, postgres, bob], owner: 1000, chosen: 'bob' },
    { name: 'none when the owner has no line', lines: [root, postgres], owner: 1000, chosen: undefined },
    { name: 'none when root owns the data', lines: [root, postgres], owner: 0, chosen: undefined },
    {
      name: 'a postgres that is root under another name is passed over',
      lines: [postgres.replace('101', '0'), nobody],
      owner: undefined,
      chosen: 'nobody',
    },
  ];
  it.each(rows)('$name', ({ lines, owner, chosen }) =>
    expect(chooseAccount(lines.join('\n'), owner)?.name).toBe(chosen),
  );
});

describe('parsePasswd', () => {
  const rows = [
    { name: 'a usual line', text: nobody, accounts: [{ name: 'nobody', uid: 65534, gid: 65533 }] },
    {
      name: 'negative ids, as on macOS',
      text: 'nobody:*:-2:-2:x:/var/empty:/usr/bin/false',
      accounts: [{ name: 'nobody', uid: 4294967294, gid: 4294967294 }],
    },
    {
      name: 'comments, blank and broken lines are passed over',
      text: '# x\n\nbroken:x:y:z:::\n+::::::\n',
      accounts: [],
    },
  ];
  it.each(rows)('$name', ({ text, accounts }) => expect(parsePasswd(text)).toEqual(accounts));
});

describe('permissionsOf', () => {
  const account = { name: 'bob', uid: 7, gid: 8 };
  const rows = [
    {
      name: 'the owner has the owner bits, even if others have more',
      uid: 7,
      gid: 8,
      mode: 0o40177,
      bits: 1,
    },
    {
      name: 'the group has the group bits, even if others have more',
      uid: 0,
      gid: 8,
      mode: 0o40747,
      bits: 4,
    },
    { name: 'anybody else has the last bits', uid: 0, gid: 0, mode: 0o40775, bits: 5 },
  ];
  it.each(rows)('$name', ({ uid, gid, mode, bits }) =>
    expect(permissionsOf({ uid, gid, mode }, account)).toBe(bits),
  );
});

describe('firstClosed', () => {
  const stranger = { name: 'stranger', uid: 4_000_000_001, gid: 4_000_000_001 };
  let base: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-account-')));
    await chmod(base, 0o755);
    await mkdir(join(base, 'a/b/c'), { recursive: true });
  });
  afterEach(() => rm(base, { recursive: true }));

  const rows = [
    { name: 'every directory is open', modes: { a: 0o755, 'a/b': 0o711, 'a/b/c': 0o755 }, closed: undefined },
    { name: 'a closed parent is named', modes: { a: 0o755, 'a/b': 0o700, 'a/b/c': 0o755 }, closed: 'a/b' },
    {
      name: 'the outermost of several is named',
      modes: { a: 0o700, 'a/b': 0o700, 'a/b/c': 0o755 },
      closed: 'a',
    },
    {
      name: 'the directory itself counts',
      modes: { a: 0o755, 'a/b': 0o755, 'a/b/c': 0o744 },
      closed: 'a/b/c',
    },
  ];
  it.each(rows)('$name', async ({ modes, closed }) => {
    for (const [path, mode] of Object.entries(modes).reverse()) await chmod(join(base, path), mode);
    expect(await firstClosed(join(base, 'a/b/c'), stranger)).toBe(closed && join(base, closed));
  });
});
