// Experiment 3: transactions of pgbench by one client and by many, logged and unlogged.

import type { Experiment, Ratio, Side } from './contract.ts';
import { check, reset, type Kind } from './lab.ts';
import { accountsPerBranch, bankProgram, isBalanced, makeBank, runBanks } from './tpcb.ts';

const kinds = ['logged', 'unlogged'] as const;

/** Transactions a second at scale 10, by clients. */
const published: readonly (readonly [clients: number, logged: number, unlogged: number])[] = [
  [1, 561, 632],
  [24, 1419, 1678],
  [48, 1323, 1555],
];

const clientsText = (clients: number): string => `${clients} ${clients === 1 ? 'client' : 'clients'}`;

const sideName = (clients: number, kind: Kind): string => `${clientsText(clients)}, ${kind}`;

export const bankByClients: Experiment = {
  number: 3,
  title: 'Transactions by clients',
  source:
    'M. Paquier, 2011: pgbench with 1, 24 and 48 clients, scale 10 and 100: 13 to 17 % more transactions',
  rows: { usual: 1_000_000, full: 10_000_000, tiny: 100_000 },
  run: async (lab, rows) => {
    const scale = Math.max(1, Math.round(rows / accountsPerBranch));
    await reset(lab.url);
    for (const kind of kinds) await makeBank(lab.url, kind, scale);
    const measured = await runBanks(
      lab,
      Object.fromEntries(
        published.flatMap(([clients]) =>
          kinds.map((kind) => [sideName(clients, kind), { kind, clients, scale }]),
        ),
      ),
    );
    const rate = (clients: number, kind: Kind): number =>
      measured(sideName(clients, kind)).transactionsPerSecond;
    for (const kind of kinds)
      check(
        lab,
        `after all transactions the ${kind} accounts have what was moved`,
        await isBalanced(lab.url, kind),
        'sum of all balances = sum of all movements',
      );
    const sides: readonly Side[] = published.flatMap(([clients, ...figures]) =>
      kinds.map((kind, place) => ({
        name: sideName(clients, kind),
        published: `${figures[place]} tps`,
        transactionsPerSecond: rate(clients, kind),
      })),
    );
    const ratios: readonly Ratio[] = published.map(([clients, logged, unlogged]) => ({
      name: `${clientsText(clients)}, tps unlogged ÷ logged`,
      published: unlogged / logged,
      measured: rate(clients, 'unlogged') / rate(clients, 'logged'),
    }));
    return { done: `scale ${scale}, ${lab.seconds} s each, by ${bankProgram(lab)}`, sides, ratios };
  },
};
