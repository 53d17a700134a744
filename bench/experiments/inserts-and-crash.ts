// Experiment 2: rows of one text by small transactions and by COPY; then what is left of them after a crash.

import { currentEpoch, readEpoch } from '../../src/ledger/run/epoch.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { ask, withPg } from './connect.ts';
import type { Experiment } from './contract.ts';
import {
  catalogueLogBytes,
  check,
  countRows,
  foreign,
  hasNoRows,
  reset,
  schema,
  skip,
  tableKinds,
  type Kind,
  type Lab,
} from './lab.ts';
import { copyRows, measureInTurns, sentence } from './measure.ts';

/** Rows of each transaction. */
const insertRows = 3;
/** Of the rows that COPY loads, a share is inserted as well: small transactions take their time. */
const usualShare = 0.02;
/** Fewer would not be seen beside what the server itself writes. */
const transactionsMin = 300;
/** A commit is about 50 bytes; a row would be more than twice that. */
const commitBytesMax = 100;

const table = (kind: Kind): string => `${schema}.texts_${kind}`;
const kinds = ['logged', 'unlogged'] as const;

const makeTables = async (url: string): Promise<void> => {
  await reset(url);
  for (const kind of kinds) await ask(url, `create ${tableKinds[kind]} ${table(kind)} (text text)`);
};

const insertAll = (url: string, kind: Kind, transactions: number): Promise<void> =>
  withPg(url, async (client) => {
    const values = Array.from({ length: insertRows }, (_, place) => `('${sentence(place).trim()}')`).join();
    for (let place = 0; place < transactions; place += 1)
      await client.query(`insert into ${table(kind)} values ${values}`);
  });

const measure = async (lab: Lab, rows: number, transactions: number) => {
  const truncate = () => ask(lab.url, kinds.map((kind) => `truncate ${table(kind)}`).join('; '));
  return measureInTurns(
    lab,
    kinds.flatMap((kind) => [
      { name: `INSERT ${kind}`, before: truncate, work: () => insertAll(lab.url, kind, transactions) },
      {
        name: `COPY ${kind}`,
        before: truncate,
        work: (client) => copyRows(client, table(kind), rows),
      },
    ]),
  );
};

/** The epoch that sluice reads before every chunk; undefined after a crash. */
const epochOf = (url: string): Promise<string | undefined> => withClient(addressFromUrl(url), readEpoch);

const describeRows = async (url: string): Promise<string> => {
  const [logged, unlogged] = [await countRows(url, table('logged')), await countRows(url, table('unlogged'))];
  return `logged ${logged}, unlogged ${unlogged}`;
};

const whatCrashesLeave = async (lab: Lab): Promise<void> => {
  const { own } = lab;
  const crash =
    'after kill -9 of every process the unlogged table is empty, rows from before the checkpoint too; the logged one is whole';
  const restart = 'a fast restart keeps all rows of both tables';
  const epochs = 'the crash epoch of sluice is gone after the crash, and the same after the fast restart';
  if (own === undefined) {
    for (const what of [crash, restart, epochs]) skip(lab, what, foreign);
    return;
  }
  const half = 300;
  const fill = async (): Promise<void> => {
    await makeTables(lab.url);
    for (const kind of kinds) await insertAll(lab.url, kind, half / insertRows);
    await ask(lab.url, 'checkpoint');
    for (const kind of kinds) await insertAll(lab.url, kind, half / insertRows);
  };
  const makeEpoch = (): Promise<string> =>
    withClient(addressFromUrl(lab.url), async (client) => {
      await migrate(client);
      return currentEpoch(client);
    });

  await fill();
  await makeEpoch();
  await own.killAll();
  await own.start();
  const afterCrash = await describeRows(lab.url);
  check(lab, crash, afterCrash === `logged ${2 * half}, unlogged 0`, afterCrash);
  const epochAfterCrash = await epochOf(lab.url);

  await fill();
  const epoch = await makeEpoch();
  await own.restart();
  const afterRestart = await describeRows(lab.url);
  check(lab, restart, afterRestart === `logged ${2 * half}, unlogged ${2 * half}`, afterRestart);
  const epochAfterRestart = await epochOf(lab.url);
  check(
    lab,
    epochs,
    epochAfterCrash === undefined && epochAfterRestart === epoch,
    `after the crash ${epochAfterCrash ?? 'none'}, after the restart ${epochAfterRestart === epoch ? 'the same' : 'another'}`,
  );
};

export const insertsAndCrash: Experiment = {
  number: 2,
  title: 'Small transactions, COPY, and a crash',
  source: 'H. Lubaczewski, 2011: 450,000 rows of one text, by INSERTs of three rows each, and by COPY',
  rows: { usual: 450_000, full: 450_000, tiny: 9_000 },
  run: async (lab, rows) => {
    const wanted = Math.ceil((rows * (lab.isFull ? 1 : usualShare)) / insertRows);
    const transactions = Math.max(wanted, transactionsMin);
    await makeTables(lab.url);
    const measured = await measure(lab, rows, transactions);
    const log = (name: string): number => measured(name).logBytes;
    check(
      lab,
      'INSERTs into the unlogged table write their commits to the log and no rows',
      log('INSERT unlogged') < log('INSERT logged') / 2 &&
        log('INSERT unlogged') < commitBytesMax * transactions + catalogueLogBytes,
      `${log('INSERT unlogged')} bytes, into the logged one ${log('INSERT logged')}`,
    );
    check(
      lab,
      'COPY into the unlogged table writes no rows to the log',
      hasNoRows(log('COPY unlogged'), log('COPY logged')),
      `${log('COPY unlogged')} bytes, into the logged one ${log('COPY logged')}`,
    );
    await whatCrashesLeave(lab);
    const side = (how: 'INSERT' | 'COPY', kind: Kind, published: string, done: number) => {
      const { seconds, logBytes } = measured(`${how} ${kind}`);
      return { name: `${how}, ${kind}`, published, seconds, rowsPerSecond: done / seconds, logBytes };
    };
    const ratio = (how: string): number =>
      measured(`${how} unlogged`).seconds / measured(`${how} logged`).seconds;
    return {
      done: `COPY of ${rows} rows, and ${transactions} INSERTs of ${insertRows} rows, each a transaction`,
      sides: [
        side('INSERT', 'logged', '941 s', transactions * insertRows),
        side('INSERT', 'unlogged', '89 s', transactions * insertRows),
        side('COPY', 'logged', '3.0 to 3.2 s', rows),
        side('COPY', 'unlogged', '1.56 s', rows),
      ],
      ratios: [
        { name: 'INSERT, unlogged ÷ logged', published: 89 / 941, measured: ratio('INSERT') },
        { name: 'COPY, unlogged ÷ logged', published: 1.56 / 3.1, measured: ratio('COPY') },
      ],
    };
  },
};
