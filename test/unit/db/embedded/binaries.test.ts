// The PostgreSQL programs get their links, and run where the server's user can reach them.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { chooseAccount } from '../../../../src/db/embedded/account.ts';
import { prepareBinaries } from '../../../../src/db/embedded/binaries.ts';
import { programIn } from '../../../../src/db/embedded/programs.ts';
import { findPackage, platformName } from '../../../../src/db/embedded/server.ts';

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
const account = isRoot ? chooseAccount(await readFile('/etc/passwd', 'utf8')) : undefined;

interface Link {
  readonly target: string;
}

let base: string;
let copy: string;
let cache: string;

/** Loads every library, so it fails if a link is missing. */
const versionOf = async (native: string, who = account): Promise<string> => {
  const identity = who && { uid: who.uid, gid: who.gid };
  return (await run(join(native, 'bin/postgres'), ['--version'], { cwd: '/', env: {}, ...identity })).stdout;
};

describe('prepareBinaries', () => {
  const undo: (() => Promise<void>)[] = [];
  /** Changes a mode until the test ends. */
  const setMode = async (path: string, mode: number): Promise<void> => {
    const before = (await stat(path)).mode;
    undo.push(() => chmod(path, before));
    await chmod(path, mode);
  };

  /**
   * One copy for all tests, with only what `postgres --version` needs: share/ has a thousand more
   * files.
   */
  beforeAll(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-binaries-')));
    await chmod(base, 0o755);
    copy = join(base, 'checkout/package');
    await mkdir(join(copy, 'native'), { recursive: true });
    for (const name of ['package.json', 'native/pg-symlinks.json', 'native/bin', 'native/lib'])
      await run('cp', ['-a', join(findPackage(process.cwd()), name), join(copy, name)]);
  });
  afterAll(() => rm(base, { recursive: true }));

  /** The package as npm unpacks it when install scripts are off. */
  beforeEach(async () => {
    cache = join(base, randomUUID());
    const links = JSON.parse(await readFile(join(copy, 'native/pg-symlinks.json'), 'utf8')) as Link[];
    for (const { target } of links) await rm(join(copy, target), { force: true });
  });
  afterEach(async () => {
    for (const each of undo.splice(0)) await each();
    await rm(cache, { recursive: true, force: true });
  });

  it('makes missing links in the package itself', async () => {
    await expect(versionOf(join(copy, 'native'))).rejects.toThrow();
    const native = await prepareBinaries(copy, cache, account);
    expect(native).toBe(join(copy, 'native'));
    expect(await versionOf(native)).toContain('PostgreSQL');
  });

  it('makes programs executable that lost their mode', async () => {
    await setMode(join(copy, 'native/bin/postgres'), 0o644);
    expect(await versionOf(await prepareBinaries(copy, cache, account))).toContain('PostgreSQL');
  });

  it('does nothing the second time', async () => {
    await prepareBinaries(copy, cache, account);
    const before = await stat(join(copy, 'native/lib'));
    await prepareBinaries(copy, cache, account);
    expect((await stat(join(copy, 'native/lib'))).mtimeMs).toBe(before.mtimeMs);
  });

  const closed = [
    { name: 'a parent that the account may not enter', path: 'checkout', mode: 0o700 },
    {
      name: 'a library that the account may not read',
      path: 'checkout/package/native/lib/libssl.so.1.1',
      mode: 0o600,
    },
    {
      name: 'a program that the account may not run',
      path: 'checkout/package/native/bin/initdb',
      mode: 0o744,
    },
  ];
  it.runIf(isRoot).each(closed)('copies a package with $name', async ({ path, mode }) => {
    await setMode(join(base, path), mode);
    const native = await prepareBinaries(copy, cache, account);
    expect(native.startsWith(cache)).toBe(true);
    expect(await versionOf(native)).toContain('PostgreSQL');
    expect((await stat(join(base, path))).mode & 0o777).toBe(mode);
  });

  it.runIf(isRoot)('copies once when two ask at the same time, and leaves nothing half done', async () => {
    await setMode(join(base, 'checkout'), 0o700);
    const prepared = await Promise.all([1, 2].map(() => prepareBinaries(copy, cache, account)));
    expect(prepared[0]).toBe(prepared[1]);
    expect(await readdir(cache)).toHaveLength(1);
    expect(await versionOf(prepared[0]!)).toContain('PostgreSQL');
  });

  it.runIf(isRoot)('copies a package that we may not write to', async () => {
    // Runs as a separate process, because a test that gives up root cannot get it back.
    await mkdir(cache);
    await chown(cache, account!.uid, account!.gid);
    const script = `import { createJiti } from 'jiti';
      const jiti = createJiti(process.cwd() + '/x.ts', { fsCache: false });
      const { prepareBinaries } = await jiti.import(process.argv[1]);
      console.log(await prepareBinaries(process.argv[2], process.argv[3], undefined));`;
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '-e', script, join(process.cwd(), 'src/db/embedded/binaries.ts'), copy, cache],
      { uid: account!.uid, gid: account!.gid },
    );
    expect(stdout.trim().startsWith(cache)).toBe(true);
    expect(await versionOf(stdout.trim())).toContain('PostgreSQL');
  });
});

it.each([
  ['linux', 'postgres'],
  ['win32', 'postgres.exe'],
])('programIn on %s', (platform, name) =>
  expect(programIn('native', 'postgres', platform)).toBe(join('native', 'bin', name)),
);

describe('findPackage', () => {
  it('says what to install when there is no package for the platform', () =>
    expect(() => findPackage(tmpdir(), 'plan9-mips')).toThrow(
      expect.objectContaining({ code: 'ETL_EMBEDDED_MISSING', details: { platform: 'plan9-mips' } }),
    ));

  const platforms = [
    { name: 'Windows is not called win32', platform: 'win32', arch: 'x64', expected: 'windows-x64' },
    { name: 'macOS is called darwin', platform: 'darwin', arch: 'arm64', expected: 'darwin-arm64' },
    { name: 'Linux keeps its name', platform: 'linux', arch: 'ppc64', expected: 'linux-ppc64' },
  ];
  it.each(platforms)('$name', ({ platform, arch, expected }) =>
    expect(platformName(platform, arch)).toBe(expected),
  );
});
