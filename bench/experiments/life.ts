// Experiment 6: the life of an unlogged table: restarts, kills, a standby, backups, dumps, and becoming logged.

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { to as copyTo } from 'pg-copy-streams';
import { currentEpoch, readEpoch } from '../../src/ledger/run/epoch.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { runProgram } from '../measure.ts';
import { ask, askUntil, libpqEnvironment, withPg } from './connect.ts';
import type { Experiment } from './contract.ts';
import {
  catalogueLogBytes,
  check,
  countRows,
  foreign,
  reset,
  schema,
  skip,
  tableKinds,
  type Kind,
  type Lab,
} from './lab.ts';
import { copyRows, measureInTurns } from './measure.ts';
import { replicaSettings, type OwnServer, type Standby } from './own-server.ts';

const kinds = ['logged', 'unlogged'] as const;
const table = (kind: Kind): string => `${schema}.life_${kind}`;
/** Enough to be sure of it. */
const someRows = 1_000;

const makeTables = async (url: string): Promise<void> => {
  await reset(url);
  await withPg(url, async (client) => {
    for (const kind of kinds) {
      await client.query(`create ${tableKinds[kind]} ${table(kind)} (text text)`);
      await copyRows(client, table(kind), someRows);
    }
  });
};

const rowsText = async (url: string): Promise<string> =>
  `logged ${await countRows(url, table('logged'))}, unlogged ${await countRows(url, table('unlogged'))}`;

const whole = `logged ${someRows}, unlogged ${someRows}`;
const emptied = `logged ${someRows}, unlogged 0`;

const statements = {
  restart: 'a clean restart keeps the rows',
  walwriter: 'kill -9 of the walwriter alone empties the unlogged table; the server recovers by itself',
  standby:
    'a standby has the logged rows, and says of the unlogged table what was published (SQLSTATE 0A000)',
  backup: 'a physical backup has only the init fork of the unlogged table',
  promoted: 'a promoted standby has the unlogged table, empty, and no crash epoch; the logged table is whole',
} as const;

const said = 'cannot access temporary or unlogged relations during recovery';

const checkBackup = async (lab: Lab, { backup }: Standby): Promise<void> => {
  const path = async (kind: Kind): Promise<string> =>
    (await ask(lab.url, `select pg_relation_filepath('${table(kind)}') as path`))[0]!['path'];
  const [logged, unlogged] = [await path('logged'), await path('unlogged')];
  const found = [logged, unlogged, `${unlogged}_init`].map((name) => backup.has(name));
  check(
    lab,
    statements.backup,
    found.join() === 'true,false,true',
    `logged table ${found[0] ? 'there' : 'missing'}; unlogged table ${found[1] ? 'there' : 'left out'}, its init fork ${found[2] ? 'there' : 'missing'}`,
  );
};

const checkStandby = async (lab: Lab, standby: Standby): Promise<void> => {
  const [row] = await ask(lab.url, 'select pg_current_wal_insert_lsn()::text as lsn');
  await askUntil(
    standby.url,
    `select pg_last_wal_replay_lsn() >= '${row!['lsn']}'::pg_lsn as is_there`,
    ({ is_there: isThere }) => isThere === true,
  );
  const logged = await countRows(standby.url, table('logged'));
  const problem = await countRows(standby.url, table('unlogged')).then(
    () => ({ code: 'none', message: 'an answer' }),
    (error: { readonly code: string; readonly message: string }) => error,
  );
  check(
    lab,
    statements.standby,
    logged === someRows && problem.code === '0A000' && problem.message === said,
    `logged ${logged}; of the unlogged table: ${problem.code} "${problem.message}"`,
  );
  await ask(standby.url, 'select pg_promote(true, 60)');
  const rows = await rowsText(standby.url);
  const epoch = await withClient(addressFromUrl(standby.url), readEpoch);
  check(
    lab,
    statements.promoted,
    rows === emptied && epoch === undefined,
    `${rows}, epoch ${epoch ?? 'none'}`,
  );
};

/** All that takes kills and copies. */
const live = async (lab: Lab, own: OwnServer): Promise<void> => {
  await own.restart(replicaSettings);
  await makeTables(lab.url);
  await own.restart(replicaSettings);
  const afterRestart = await rowsText(lab.url);
  check(lab, statements.restart, afterRestart === whole, afterRestart);
  await own.killOne('walwriter');
  const afterKill = await rowsText(lab.url);
  check(lab, statements.walwriter, afterKill === emptied, afterKill);
  await makeTables(lab.url);
  await withClient(addressFromUrl(lab.url), async (client) => {
    await migrate(client);
    await currentEpoch(client);
  });
  const standby = await own.startStandby();
  try {
    await checkBackup(lab, standby);
    await checkStandby(lab, standby);
  } finally {
    await standby.remove();
  }
};

/** What a dump has of the unlogged table: pg_dump reads it with COPY, which is asked where pg_dump is too old. */
const checkDump = async (lab: Lab): Promise<void> => {
  await makeTables(lab.url);
  const what = 'a dump has the rows of the unlogged table';
  const without = 'pg_dump --no-unlogged-table-data leaves them out';
  const { pgDump } = lab.tools;
  if (pgDump === undefined) {
    const lines = await withPg(lab.url, async (client) => {
      const stream = client.query(copyTo(`copy ${table('unlogged')} to stdout`));
      const [written] = await Promise.all([text(stream), once(stream, 'end')]);
      return written.trimEnd().split('\n').length;
    });
    const why = 'no pg_dump of the server’s version here';
    check(
      lab,
      what,
      lines === someRows,
      `${lines} of ${someRows} rows by COPY … TO, as pg_dump reads them (${why})`,
    );
    skip(lab, without, why);
    return;
  }
  const dump = async (...flags: readonly string[]): Promise<number> => {
    const args = ['--data-only', '--table', table('unlogged'), ...flags];
    const lines = await runProgram(pgDump, args, { env: libpqEnvironment(lab.url) });
    return lines.filter((line) => line.startsWith('row ')).length;
  };
  const rows = await dump();
  check(lab, what, rows === someRows, `${rows} of ${someRows} rows by pg_dump`);
  const rest = await dump('--no-unlogged-table-data');
  check(lab, without, rest === 0, `${rest} rows`);
};

const changeKind = async (lab: Lab, rows: number) => {
  const name = `${schema}.changed`;
  const make = (kind: Kind) => async () => {
    await reset(lab.url);
    await withPg(lab.url, async (client) => {
      await client.query(`create ${tableKinds[kind]} ${name} (text text)`);
      await copyRows(client, name, rows);
      // With checksums, the first read of new rows writes their pages to the log, whatever reads them.
      await client.query(`vacuum ${name}`);
    });
  };
  return measureInTurns(
    lab,
    kinds.map((kind) => ({
      name: kind,
      before: make(kind === 'logged' ? 'unlogged' : 'logged'),
      work: async (client) => void (await client.query(`alter table ${name} set ${kind}`)),
    })),
  );
};

export const life: Experiment = {
  number: 6,
  title: 'The life of an unlogged table',
  source:
    'G. S. Mullane: restarts, kills, a standby, backup and dump; SET UNLOGGED of 2 million rows, SET LOGGED of 1 million',
  rows: { usual: 500_000, full: 2_000_000, tiny: 20_000 },
  run: async (lab, rows) => {
    if (lab.own === undefined) for (const what of Object.values(statements)) skip(lab, what, foreign);
    else await live(lab, lab.own);
    await checkDump(lab);
    const changed = await changeKind(lab, rows);
    const [level] = await ask(lab.url, 'show wal_level');
    const what = 'SET LOGGED writes the whole table to the log, SET UNLOGGED changes of the catalogue only';
    const found = `${changed('logged').logBytes} and ${changed('unlogged').logBytes} bytes for ${rows} rows`;
    if (level!['wal_level'] === 'minimal')
      skip(lab, what, `wal_level is minimal: the table is flushed instead`);
    else
      check(
        lab,
        what,
        changed('logged').logBytes > 40 * rows && changed('unlogged').logBytes < 5 * rows + catalogueLogBytes,
        found,
      );
    await lab.own?.restart();
    const side = (name: string, kind: Kind, published: string) => ({
      name,
      published,
      seconds: changed(kind).seconds,
      rowsPerSecond: rows / changed(kind).seconds,
      logBytes: changed(kind).logBytes,
    });
    return {
      done: `tables of ${someRows} rows for what is left of them; ${rows} rows for SET LOGGED and SET UNLOGGED, wal_level ${level!['wal_level']}`,
      sides: [
        side('SET UNLOGGED', 'unlogged', '1.8 s of 2 million rows'),
        side('SET LOGGED', 'logged', '16.6 s of 1 million rows'),
      ],
      ratios: [
        {
          name: 'a row, SET UNLOGGED ÷ SET LOGGED',
          published: 1.8 / 2 / 16.6,
          measured: changed('unlogged').seconds / changed('logged').seconds,
        },
      ],
    };
  },
};
