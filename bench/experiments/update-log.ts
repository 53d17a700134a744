// Experiment 5: the log of one large update, logged and unlogged; and the same for small transactions.

import { ask } from './connect.ts';
import type { Experiment } from './contract.ts';
import { check, reset, schema, tableKinds, type Kind } from './lab.ts';
import { measureInTurns } from './measure.ts';
import { makeBank, runBanks } from './tpcb.ts';

const kinds = ['logged', 'unlogged'] as const;
const table = (kind: Kind): string => `${schema}.updated_${kind}`;

const fill = (kind: Kind, rows: number): string =>
  `drop table if exists ${table(kind)};
  create ${tableKinds[kind]} ${table(kind)} (id int primary key, count int, text text);
  insert into ${table(kind)} select i, 0, 'row ' || i from generate_series(1, ${rows}) i`;

export const updateLog: Experiment = {
  number: 5,
  title: 'The log of an update',
  source: 'G. S. Mullane: an update of a million rows, and pgbench',
  rows: { usual: 500_000, full: 1_000_000, tiny: 5_000 },
  run: async (lab, rows) => {
    await reset(lab.url);
    const measured = await measureInTurns(
      lab,
      kinds.map((kind) => ({
        name: kind,
        before: () => ask(lab.url, fill(kind, rows)),
        work: async (client) => void (await client.query(`update ${table(kind)} set count = count + 1`)),
      })),
    );
    // Vacuuming what was updated would write to the log while the transactions run.
    await reset(lab.url);
    for (const kind of kinds) await makeBank(lab.url, kind, 1);
    const bank = await runBanks(lab, {
      logged: { kind: 'logged', clients: 1, scale: 1 },
      unlogged: { kind: 'unlogged', clients: 1, scale: 1 },
    });
    const [logged, unlogged] = [measured('logged'), measured('unlogged')];
    check(
      lab,
      'the update of the unlogged table writes less than a twentieth of the log',
      unlogged.logBytes < logged.logBytes / 20,
      `${unlogged.logBytes} of ${logged.logBytes} bytes`,
    );
    check(
      lab,
      'the update of the logged table writes at least 50 bytes a row',
      logged.logBytes > 50 * rows,
      `${Math.round(logged.logBytes / rows)} bytes a row`,
    );
    const side = (kind: Kind, published: string) => ({
      name: `update, ${kind}`,
      published,
      seconds: measured(kind).seconds,
      rowsPerSecond: rows / measured(kind).seconds,
      logBytes: measured(kind).logBytes,
    });
    const bankSide = (kind: Kind, published: string) => ({
      name: `pgbench, 1 client, ${kind}`,
      published,
      ...bank(kind),
    });
    return {
      done: `an update of ${rows} rows; one client of pgbench at scale 1 for ${lab.seconds} s`,
      sides: [
        side('logged', '5.6 s, 320 MB of log'),
        side('unlogged', '3.2 s, 16 MB of log'),
        bankSide('logged', '168 tps'),
        bankSide('unlogged', '485 tps'),
      ],
      ratios: [
        {
          name: 'update, unlogged ÷ logged',
          published: 3.2 / 5.6,
          measured: unlogged.seconds / logged.seconds,
        },
        {
          name: 'log of the update, unlogged ÷ logged',
          published: 16 / 320,
          measured: unlogged.logBytes / logged.logBytes,
        },
        {
          name: 'tps of pgbench, unlogged ÷ logged',
          published: 485 / 168,
          measured: bank('unlogged').transactionsPerSecond / bank('logged').transactionsPerSecond,
        },
      ],
    };
  },
};
