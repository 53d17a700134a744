// The program itself, as a process: a checkout that was installed without scripts compiles itself once.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readVersion } from '../../src/cli/program.ts';
import { encoderBytes } from '../../src/format/encoder/encoder-bytes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const checkout = mkdtempSync(join(tmpdir(), 'sluice-checkout-'));
const keptCode = join(checkout, 'dist/code-cache', process.version, 'cli-main.cjs');
for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
  cpSync(join(root, name), join(checkout, name), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

const etl = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const program = join(checkout, 'src/cli/etl.mjs');
    execFile(process.execPath, [program, ...args], { cwd: checkout }, (error, out, err) =>
      resolve({ exit: error === null ? 0 : Number(error.code), out, err }),
    );
  });

describe('etl in a fresh checkout', () => {
  let both: readonly Ended[] = [];
  beforeAll(async () => {
    both = await Promise.all([etl('--version'), etl('--version')]);
    // Two compilers at once, beside other tests.
  }, 180_000);

  it('two at once compile it, say so, and both succeed', () => {
    expect(both).toHaveLength(2);
    for (const { exit, out, err } of both) {
      expect({ exit, out }).toEqual({ exit: 0, out: `${readVersion()}\n` });
      expect(err).toMatch(/^sluice: first use of this checkout, compiling it once …\n$/);
    }
    expect(readdirSync(checkout).filter((name) => name.startsWith('.etl-build'))).toEqual([]);
  });

  it('the migrations are beside the code that reads them', () =>
    expect(readdirSync(join(checkout, 'dist/db/bookkeeping/migrations'))).toEqual(
      readdirSync(join(root, 'src/db/bookkeeping/migrations')),
    ));

  it('the next one is silent', async () =>
    expect(await etl('--version')).toEqual({ exit: 0, out: `${readVersion()}\n`, err: '' }));

  it('keeps compiled code, and code that is damaged is compiled again', async () => {
    const file = join(
      keptCode,
      readdirSync(keptCode).find((name) => name.startsWith('program'))!,
    );
    const kept = statSync(file).size;
    for (const damaged of [readFileSync(file).subarray(0, kept / 2), Buffer.from('code'), Buffer.alloc(0)]) {
      writeFileSync(file, damaged);
      expect(await etl('--version')).toEqual({ exit: 0, out: `${readVersion()}\n`, err: '' });
      expect(statSync(file).size).toBeGreaterThan(kept / 2);
    }
  });

  it('calls no import(), which code from the cache cannot', () => {
    const directory = join(checkout, 'dist/bundle');
    const files = readdirSync(directory).filter((file) => file.endsWith('.cjs'));
    const code = files.map((file) => readFileSync(join(directory, file), 'utf8'));
    expect(code.filter((text) => /(?:await|return|=>|[(=]) *import\(/.test(text))).toEqual([]);
  });

  it('exits with the code of the error', async () =>
    expect(await etl('rnu')).toMatchObject({ exit: 2, out: '' }));

  it('says when a pipeline file waits for something that never comes', async () => {
    writeFileSync(join(checkout, 'stuck.ts'), 'await new Promise(() => {});\nexport default {};\n');
    const { exit, err } = await etl('run', 'stuck.ts');
    // Jiti has read the file: its code is kept, too, until another version of it is installed.
    expect(readdirSync(keptCode)).toContainEqual(expect.stringMatching(/^jiti-[\da-f]{16}\.cjs$/));
    expect(exit).toBe(2);
    expect(err).toMatch(
      /^error ETL_PIPELINE_FILE: cannot load the pipeline file stuck\.ts: it awaits something that never happens\n/,
    );
  });

  it.runIf(process.platform === 'linux')('shows no password to those who list processes', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `postgres://me:sesame@127.0.0.1:${port}/db`;
    const program = join(checkout, 'src/cli/etl.mjs');
    const child = spawn(process.execPath, [program, 'doctor', '--database-url', url], { stdio: 'ignore' });
    try {
      const [socket] = (await once(server, 'connection')) as [Socket];
      const shown = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      socket.destroy();
      expect(shown).toBe('etl doctor');
    } finally {
      child.kill('SIGKILL');
      server.close();
    }
  });

  it('--build replaces what is there', async () => {
    cpSync(join(root, 'package.json'), join(checkout, 'dist/stale.js'));
    expect((await etl('--build')).exit).toBe(0);
    expect(existsSync(join(checkout, 'dist/stale.js'))).toBe(false);
    expect(existsSync(join(checkout, 'dist/code-cache'))).toBe(false);
    expect((await etl('status')).out).toBe('no runs yet\n');
  });

  it.each([['encoderBytes', encoderBytes, 'encoder.wasm']])(
    '%s is in one file of the bundle, and what makes it in none',
    (name, bytes, maker) => {
      const directory = join(checkout, 'dist/bundle');
      const files = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
      const stored = `const ${name} = Buffer.from("${Buffer.from(bytes).toString('base64')}", "base64");`;
      expect(files.filter((code) => code.includes(stored))).toHaveLength(1);
      expect(files.filter((code) => code.includes(maker))).toEqual([]);
    },
  );
});
