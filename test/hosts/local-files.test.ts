// Local files that not every host has: a host without them says so, once, and the run goes on where they are.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../helpers/fault-database.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { hostsProblem } from '../helpers/hosts.ts';

const pipeline = `
import { column, csv, definePipeline } from 'sluice';
export default definePipeline({ name: 'local', schema: 'local', tables: {
  word: { source: csv('local/*.csv', { settle: 0 }), columns: { n: column.integer('n') }, copies: 'load' } } });`;

const count = 8;
const numbers = 20_000;

/** Files that begin with a number, so that others may be as long and have other contents. */
const filesFrom = (first: number): Readonly<Record<string, string>> => {
  const lines = (file: number) =>
    Array.from({ length: numbers }, (_, n) => String(first + file * numbers + n)).join('\n');
  return Object.fromEntries(
    Array.from({ length: count }, (_, file) => [`local/${file}.csv`, `n\n${lines(file)}\n`]),
  );
};

describe.skipIf(hostsProblem !== undefined)('local files', () => {
  let scene: HostsScene;
  beforeAll(async () => (scene = await openHostsScene()));
  afterAll(() => scene.close());

  it('are loaded by the hosts that have them; a host without, and one with others, say what to do', async () => {
    const { network, boot, withCopiesHeld, untilRun } = scene;
    const own = { 'pipelines/local.ts': pipeline };
    const all = { ...own, ...filesFrom(1_000_000) };
    const coordinator = await boot('coordinator', all);
    await scene.enqueue(coordinator.host, 'local');
    const without = await withCopiesHeld(1, async (untilHosts) => {
      const [alike, others, bare] = await Promise.all([
        boot('alike', all),
        boot('others', { ...own, ...filesFrom(2_000_000) }),
        boot('bare', own),
      ]);
      await untilHosts(2);
      const refusal = (name: string, problem: string) =>
        expect.objectContaining({
          code: 'ETL_SOURCE_ELSEWHERE',
          error: expect.stringMatching(
            `^table word: host ${name} does not have ${network.home}/local/.*: ${problem}`,
          ),
          hint: expect.stringContaining('the same files under the same paths'),
        });
      expect(await others.untilSaid('stopped helping a run')).toEqual(
        refusal('others', 'the file under this path has'),
      );
      expect(await bare.untilSaid('stopped helping a run')).toEqual(refusal('bare', 'ENOENT'));
      // The next coordinator is one that has no files.
      await Promise.all([network.remove(alike.host), network.remove(others.host), coordinator.host.kill()]);
      return bare;
    });
    expect(await without.untilSaid('run failed')).toMatchObject({
      code: 'ETL_SOURCE_ELSEWHERE',
      error: expect.stringContaining('host bare does not have local/*.csv'),
    });
    expect(without.lines.filter(({ msg }) => msg === 'stopped helping a run')).toHaveLength(1);
    await network.remove(without.host);
    await boot('alike', all);
    const published = await untilRun(({ state }) => state === 'published');
    expect(published).toMatchObject({ id: 1, host: 'alike' });
    const [sums] = await ask(
      scene.url,
      'select count(*)::int as rows, sum(n)::float8 as sum from local.word',
    );
    const rows = count * numbers;
    expect(sums).toEqual({ rows, sum: rows * 1_000_000 + (rows * (rows - 1)) / 2 });
  });
});
