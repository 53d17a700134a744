// Experiment 7: a table that is created or emptied in the transaction of its COPY needs no log; and a load that goes on
// after a crash of the server.

import { runProgram } from '../measure.ts';
import { pipelinePath } from '../etl.ts';
import { generate } from '../generate.ts';
import { hourlyFiles } from '../hourly-files.ts';
import type { RunEvent } from '../../src/core/run-event.ts';
import { ask } from './connect.ts';
import type { Experiment, Side } from './contract.ts';
import { catalogueLogBytes, check, foreign, reset, schema, skip, type Lab } from './lab.ts';
import { copyRows, measureInTurns, type Measured } from './measure.ts';
import { replicaSettings, type OwnServer } from './own-server.ts';

const table = `${schema}.trick`;

/** At wal_level minimal, a table below `wal_skip_threshold`, 2 MB, is written to the log in the end all the same. */
const rowsMin = 100_000;

const ways = {
  plain: 'COPY into a logged table that was there',
  created: 'create table and COPY in one transaction',
  truncated: 'truncate and COPY in one transaction',
  unlogged: 'COPY into an unlogged table',
} as const;

type Way = keyof typeof ways;
const wayNames = Object.keys(ways) as Way[];
type Level = 'minimal' | 'replica' | 'logical';

const before: Readonly<Record<Way, string>> = {
  plain: `create table ${table} (text text)`,
  created: 'select',
  truncated: `create table ${table} (text text); insert into ${table} values ('old')`,
  unlogged: `create unlogged table ${table} (text text)`,
};

const inTransaction: Readonly<Record<Way, string>> = {
  plain: 'begin',
  created: `begin; create table ${table} (text text)`,
  truncated: `begin; truncate ${table}`,
  unlogged: 'begin',
};

const measureWays = async (lab: Lab, rows: number): Promise<(way: Way) => Measured> => {
  const measured = await measureInTurns(
    lab,
    wayNames.map((way) => ({
      name: way,
      before: async () => {
        await reset(lab.url);
        await ask(lab.url, before[way]);
      },
      work: async (client) => {
        await client.query(inTransaction[way]);
        await copyRows(client, table, rows);
        await client.query('commit');
      },
    })),
  );
  return measured;
};

/** What each level of the log writes. A row of the COPY has at least 40 bytes. */
const checkWays = (lab: Lab, level: Level, rows: number, measured: (way: Way) => Measured): void => {
  const bytes = (way: Way): number => measured(way).logBytes;
  const found = wayNames.map((way) => `${ways[way]}: ${bytes(way)} bytes`).join('; ');
  const isWritten = (way: Way): boolean => bytes(way) > 40 * rows;
  const isSkipped = (way: Way): boolean => bytes(way) < 5 * rows + catalogueLogBytes;
  if (level === 'minimal')
    check(
      lab,
      'at wal_level minimal, COPY writes no log in the transaction that created or emptied its table',
      isWritten('plain') && isSkipped('created') && isSkipped('truncated') && isSkipped('unlogged'),
      found,
    );
  else
    check(
      lab,
      `at wal_level ${level} that does not help: only the unlogged table writes no log`,
      isWritten('plain') && isWritten('created') && isWritten('truncated') && isSkipped('unlogged'),
      found,
    );
};

/** Enough that the kill comes while rows are being loaded. */
const records = 60_000;

/** A run of `etl` whose server is killed once rows are in staging, and started again. */
const killDuringRun = async (lab: Lab, own: OwnServer): Promise<void> => {
  await reset(lab.url);
  await generate(hourlyFiles, lab.directory, records, 6, 1);
  const events: RunEvent[] = [];
  let killing: Promise<void> | undefined;
  const killAndStart = async (): Promise<void> => {
    await own.killAll();
    await own.start();
  };
  const flags = ['--json', '--full-refresh', '--workers', '2', '--chunk-bytes', '50000'];
  await runProgram(process.execPath, [lab.etl, 'run', pipelinePath('observation.ts'), ...flags], {
    cwd: lab.directory,
    env: { DATABASE_URL: lab.url },
    onLine: (line) => {
      const event = JSON.parse(line) as RunEvent;
      events.push(event);
      if (event.type === 'progress' && event.copied > 0) killing ??= killAndStart();
    },
  });
  await killing;
  const [row] = await ask(lab.url, `select count(*)::int as n from bench_observation.observation`);
  const recovered = events.find((event) => event.type === 'recovered');
  check(
    lab,
    'a run of sluice whose server is killed notices it by the epoch, loads what was lost again, and publishes every record once',
    row!['n'] === records && recovered?.crashed === true,
    `${row!['n']} of ${records} rows; loaded again: ${recovered?.records ?? 0} records of ${recovered?.chunks ?? 0} chunks`,
  );
};

const sidesOf = (level: Level, rows: number, measured: (way: Way) => Measured): readonly Side[] =>
  wayNames.map((way) => {
    const { seconds, logBytes } = measured(way);
    return { name: `${level}: ${ways[way]}`, seconds, rowsPerSecond: rows / seconds, logBytes };
  });

const share = (level: Level, measured: (way: Way) => Measured) => ({
  name: `log at wal_level ${level}, created in the transaction ÷ there before`,
  measured: measured('created').logBytes / measured('plain').logBytes,
});

export const sameTransaction: Experiment = {
  number: 7,
  title: 'Without a log at all, and after a crash',
  source:
    'comments on H. Lubaczewski, 2011: create or truncate and COPY in one transaction; an ETL that knows what it has loaded goes on after a crash',
  rows: { usual: 300_000, full: 1_000_000, tiny: 100_000 },
  run: async (lab, wanted) => {
    const rows = Math.max(wanted, rowsMin);
    const resumed = 'a run of sluice whose server is killed';
    const { own } = lab;
    const levelOf = async (): Promise<Level> => (await ask(lab.url, 'show wal_level'))[0]!['wal_level'];
    const first = await levelOf();
    const measured = await measureWays(lab, rows);
    checkWays(lab, first, rows, measured);
    const sides = [...sidesOf(first, rows, measured)];
    const ratios = [share(first, measured)];
    if (own === undefined) skip(lab, resumed, foreign);
    else {
      await own.restart(replicaSettings);
      const others = await measureWays(lab, rows);
      checkWays(lab, 'replica', rows, others);
      sides.push(...sidesOf('replica', rows, others));
      ratios.push(share('replica', others));
      await own.restart();
      await killDuringRun(lab, own);
    }
    return { done: `COPY of ${rows} rows of one text`, sides, ratios };
  },
};
