// Experiment 4: what one transaction writes to the log, and how many there are a second: synchronous commit,
// asynchronous commit, unlogged tables.

import type { Experiment } from './contract.ts';
import { check, reset } from './lab.ts';
import { accountsPerBranch, bankProgram, makeBank, runBanks, type BankOptions } from './tpcb.ts';

const clients = 28;

const modes = {
  'synchronous commit': { published: 32_277, kind: 'logged', synchronousCommit: 'on' },
  'asynchronous commit': { published: 44_621, kind: 'logged', synchronousCommit: 'off' },
  'unlogged tables': { published: 45_973, kind: 'unlogged', synchronousCommit: 'on' },
} as const satisfies Readonly<
  Record<string, { published: number } & Pick<BankOptions, 'kind' | 'synchronousCommit'>>
>;

type Mode = keyof typeof modes;
const names = Object.keys(modes) as Mode[];

export const commitModes: Experiment = {
  number: 4,
  title: 'Synchronous, asynchronous, unlogged',
  source: 'digoal, 2019: pgbench, prepared statements, 28 clients, scale 1000',
  rows: { usual: 1_000_000, full: 100_000_000, tiny: 100_000 },
  run: async (lab, rows) => {
    const scale = Math.max(1, Math.round(rows / accountsPerBranch));
    await reset(lab.url);
    for (const kind of ['logged', 'unlogged'] as const) await makeBank(lab.url, kind, scale);
    const side = (name: Mode): BankOptions => {
      const { kind, synchronousCommit } = modes[name];
      return { kind, synchronousCommit, clients, scale, isPrepared: true };
    };
    const measured = await runBanks(
      lab,
      Object.fromEntries(names.map((name) => [name, side(name)])) as Record<Mode, BankOptions>,
    );
    const rate = (name: Mode): number => measured(name).transactionsPerSecond;
    const log = (name: Mode): number => measured(name).logBytesPerTransaction;
    check(
      lab,
      'a transaction on unlogged tables writes its commit to the log and none of its rows',
      log('unlogged tables') < log('synchronous commit') / 3 && log('unlogged tables') > 0,
      `${Math.round(log('unlogged tables'))} bytes a transaction, logged ${Math.round(log('synchronous commit'))}`,
    );
    check(
      lab,
      'asynchronous commit writes the rows to the log as well, later',
      log('asynchronous commit') > 3 * log('unlogged tables'),
      `${Math.round(log('asynchronous commit'))} bytes a transaction`,
    );
    return {
      done: `scale ${scale}, ${clients} clients, prepared statements, ${lab.seconds} s each, by ${bankProgram(lab)}`,
      sides: names.map((name) => ({
        name,
        published: `${modes[name].published} tps`,
        transactionsPerSecond: rate(name),
        logBytesPerTransaction: log(name),
      })),
      ratios: names.slice(1).map((name) => ({
        name: `tps, ${name} ÷ synchronous commit`,
        published: modes[name].published / modes['synchronous commit'].published,
        measured: rate(name) / rate('synchronous commit'),
      })),
    };
  },
};
