// Standard input that does not fit where it is kept: one clear error, with nothing left there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, inject, it } from 'vitest';
import { mountSmallDisk } from '../helpers/as-root.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const MiB = 1024 * 1024;
const files = useFiles();
const database = useDatabase();

files.write(
  'piped.ts',
  `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'piped',
  schema: 'piped',
  tables: { t: { source: csv('-'), columns: { id: column.integer('id') } } },
});
`,
);

/** Pipes so many bytes into `etl run`, which keeps them in `directory`. */
const pipe = async (bytes: number, directory: string) => {
  const child = spawn(process.execPath, [inject('faultProgram'), 'run', 'piped.ts', '--quiet'], {
    cwd: files.directory,
    env: { ...process.env, DATABASE_URL: database.url, TMPDIR: directory },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  // It ends before everything is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(Buffer.alloc(bytes, 'id\n'));
  const said = text(child.stderr);
  const [exit] = (await once(child, 'close')) as [number | null];
  return { exit, said: await said };
};

it.each([
  { when: 'a write fails', room: 16 * MiB },
  // Looked at every 64 MiB: there are two left of these.
  { when: 'it is nearly full', room: 66 * MiB },
])('stops the run once $when', async ({ room }) => {
  const user = { uid: process.getuid!(), gid: process.getgid!() };
  const disk = await mountSmallDisk(String(room), user);
  try {
    const { exit, said } = await pipe(80 * MiB, disk.directory);
    expect({ exit, said }).toEqual({ exit: 1, said: expect.stringMatching(/^error ETL_STDIN_SPACE: /) });
    expect(said).toContain(`does not fit into ${disk.directory}, where it is kept during the run`);
    expect(said).toContain('Set TMPDIR to a directory with more space');
    // The cache of compiled pipeline files stays.
    expect(readdirSync(disk.directory).filter((name) => /^sluice-(?!transpiled)/.test(name))).toEqual([]);
    const { rows } = await database.query(`select to_regclass('piped.t') as published`);
    expect(rows).toEqual([{ published: null }]);
  } finally {
    await disk.unmount();
  }
});
