// Files in which nothing is right: the rejects that are kept and the memory that they take stay bounded, at the sizes that
// everybody uses. Each load is a process of its own, so that its memory can be measured.

import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { rejectsCollectedMax } from '../../src/core/limits.ts';
import { useFiles } from '../helpers/files.ts';
import { runTypeScript } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const program = fileURLToPath(new URL('../helpers/load-hopeless.ts', import.meta.url));

const workers = 2;
const MiB = 1024 * 1024;
/** A load of good records takes 170 MiB here, the program that compiles TypeScript as it goes included. */
const peakKibMax = 400 * 1024;

let large = '';
let small = '';
beforeAll(() => {
  // A column is missing in every record: the commonest mistake, with the shortest records.
  large = files.write('large.csv', Buffer.concat([Buffer.from('id,value\n'), Buffer.alloc(42 * MiB, 'x\n')]));
  small = files.write('small.csv', Buffer.concat([Buffer.from('id,value\n'), Buffer.alloc(MiB / 16, 'x\n')]));
});

interface Outcome {
  readonly code: string | null;
  readonly message?: string;
  readonly rejected: number;
  readonly records: number;
  readonly peakKib: number;
}

const load = async (file: string, limit: string, name: string): Promise<Outcome> => {
  const { exit, out, err } = await runTypeScript(program, [file, limit, name], {
    cwd: files.directory,
    env: { DATABASE_URL: database.url },
  });
  if (exit !== 0) throw new Error(`exit ${exit}: ${out}${err}`);
  return JSON.parse(out);
};

const kept = async (pipeline: string): Promise<number> =>
  (
    await database.query<{ n: number }>(
      `select count(*)::int as n from etl.reject r join etl.run on run.id = r.run_id where pipeline = $1`,
      [pipeline],
    )
  ).rows[0]!.n;

describe('a file in which every record is broken, at default sizes', () => {
  /** Loads the large file, and checks that the run stopped soon after its limit; returns the number of rejects. */
  const loadUntil = async (limit: number, keptMax: number, name: string): Promise<number> => {
    const { code, message, rejected, records, peakKib } = await load(large, String(limit), name);
    expect(code).toBe('ETL_REJECT_LIMIT');
    expect(rejected).toBeGreaterThan(limit);
    expect(rejected).toBeLessThanOrEqual(keptMax);
    expect(message).toContain(`${rejected} of ${records} records read so far rejected`);
    expect(await kept(name)).toBe(rejected);
    expect(peakKib).toBeLessThan(peakKibMax);
    return rejected;
  };

  it('with rejectLimit 0 it stops soon, keeps no more than each worker may, and no more when it is run again', async () => {
    const keptMax = workers * rejectsCollectedMax;
    const rejected = await loadUntil(0, keptMax, 'bound_0');
    expect(await loadUntil(0, keptMax, 'bound_0')).toBe(rejected);
  });

  it('with rejectLimit 10000 it stops soon after, and keeps no more than each worker may', async () => {
    expect(await loadUntil(10_000, workers * 10_001, 'bound_10000')).toBeGreaterThan(10_000);
  });

  it('under a share that allows all of them, each is kept, in bounded memory', async () => {
    const { code, rejected, records, peakKib } = await load(small, '100%', 'share');
    expect(code).toBeNull();
    expect(rejected).toBe(MiB / 32);
    expect(records).toBe(rejected);
    expect(await kept('share')).toBe(rejected);
    expect(peakKib).toBeLessThan(peakKibMax);
  });
});
