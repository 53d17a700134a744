// Every experiment of docs/experiments.md at a tiny size: whatever it says that must hold does hold, kills included.

import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ask } from '../../bench/experiments/connect.ts';
import { foreign, type Lab } from '../../bench/experiments/lab.ts';
import { experiments } from '../../bench/experiments/registry.ts';
import { resultText } from '../../bench/experiments/report.ts';
import { openLab, runExperiment } from '../../bench/experiments/run.ts';

const options = { rounds: 1, seconds: 0.3, isFull: false };

let lab: Lab;
let close: () => Promise<void>;
beforeAll(async () => {
  // A killed process loses nothing that the system has, so this server need not flush.
  const opened = await openLab({ ...options, etl: inject('faultProgram'), settings: { fsync: 'off' } });
  ({ lab, close } = opened);
});
afterAll(() => close());

/** How much each of them checks: a check that is lost would not be missed otherwise. */
const checksOf: Readonly<Record<number, number>> = { 1: 3, 2: 5, 3: 2, 4: 2, 5: 2, 6: 8, 7: 3 };

/** Only the fourth uses pgbench where it is installed: it takes whole seconds. */
const labFor = (number: number): Lab =>
  number === 4 ? lab : (Object.create(lab, { tools: { value: {} } }) as Lab);

it.each(experiments)('$number: $title, every check holds', async (experiment) => {
  const { number, rows } = experiment;
  const result = await runExperiment(labFor(number), experiment, rows.tiny);
  const skipped = result.checks.filter(({ outcome }) => outcome === 'skipped').map(({ what }) => what);
  expect(result.checks.filter(({ outcome }) => outcome === 'fails')).toEqual([]);
  expect(skipped).toEqual(number === 6 ? ['pg_dump --no-unlogged-table-data leaves them out'] : []);
  expect(result.checks).toHaveLength(checksOf[number]!);
  expect(resultText(result)).toContain(`\n${number}. `);
});

it('on a server of somebody else nothing is killed, and that is said; a schema of somebody else is not dropped', async () => {
  const { pid } = lab.own!.server;
  const { lab: other, close: closeOther } = await openLab({ ...options, etl: lab.etl, databaseUrl: lab.url });
  const [, second] = experiments;
  const { checks } = await runExperiment(other, second!, second!.rows.tiny);
  expect(checks.filter(({ found }) => found === foreign)).toHaveLength(3);
  expect(lab.own!.server.pid).toBe(pid);
  await ask(lab.url, 'create schema sluice_experiments');
  await expect(runExperiment(other, second!, 100)).rejects.toThrow('was not made by these experiments');
  await closeOther();
});
