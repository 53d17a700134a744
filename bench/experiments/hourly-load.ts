// Experiment 1: half a year of hourly weather into tables of texts, logged and unlogged, by one session and by six.

import { generate } from '../generate.ts';
import { hourlyFiles, hourlyHeader } from '../hourly-files.ts';
import { pipelinePath } from '../etl.ts';
import { runProgram } from '../measure.ts';
import { openSessions, type Session } from '../psql.ts';
import type { RunStep } from '../../src/core/model.ts';
import type { RunEvent } from '../../src/core/run-event.ts';
import { ask, withPg } from './connect.ts';
import type { Experiment, Side } from './contract.ts';
import { check, hasNoRows, reset, schema, tableKinds, type Kind, type Lab } from './lab.ts';
import { measureInTurns } from './measure.ts';

const files = 6;

const columns = hourlyHeader.map((name) => `"${name.toLowerCase()}" text`).join(', ');

const createTables = (kind: Kind, tables: number): string =>
  Array.from(
    { length: tables },
    (_, place) => `create ${tableKinds[kind]} ${schema}.hourly${place + 1} (${columns})`,
  ).join('; ');

/** Runs `etl` as a user does; gives seconds of a step, or of the whole process. */
const runEtl = async (
  { etl, url, directory }: Lab,
  pipeline: string,
  flags: readonly string[],
  step: RunStep | 'all',
): Promise<number | undefined> => {
  let seconds: number | undefined;
  const args = ['run', pipelinePath(pipeline), '--json', '--full-refresh', ...flags];
  await runProgram(process.execPath, [etl, ...args], {
    cwd: directory,
    env: { DATABASE_URL: url },
    onLine: (line) => {
      const event = JSON.parse(line) as RunEvent;
      if (event.type === 'finished') seconds = event.result.steps.find((one) => one.step === step)?.seconds;
    },
  });
  return step === 'all' ? undefined : seconds;
};

const names = {
  logged: 'one session, one logged table',
  unlogged: 'one session, one unlogged table',
  sixLogged: 'six sessions, six logged tables',
  sixUnlogged: 'six sessions, six unlogged tables',
  texts: 'sluice, load of the same 44 texts into staging',
  whole: 'sluice, all of `etl run`: 14 typed columns, index, published',
} as const;

const published: Readonly<Record<keyof typeof names, string | undefined>> = {
  logged: '302 s on 1 core, 200 s on 4',
  unlogged: '197 s on 1 core, 163 s on 4',
  sixLogged: undefined,
  sixUnlogged: '53 s on 4 cores',
  texts: undefined,
  whole: undefined,
};

export const hourlyLoad: Experiment = {
  number: 1,
  title: 'Half a year of hourly weather',
  source:
    'R. Lambert, 2016: NOAA QCLCD hourly, January to June 2016, 26 million rows, 3.2 GB, 44 text columns',
  rows: { usual: 1_000_000, full: 26_000_000, tiny: 6_000 },
  run: async (lab, rows) => {
    const { url, directory } = lab;
    const dataset = await generate(hourlyFiles, directory, rows, files, 1);
    const sessions = await openSessions(url);
    const copies = (tables: number): readonly Session[] =>
      dataset.files.map(({ path }, place) => [
        { copy: `${schema}.hourly${(place % tables) + 1}`, file: path },
      ]);
    const load = (kind: Kind, tables: number) => ({
      before: async () => {
        await reset(url);
        await ask(url, createTables(kind, tables));
      },
      work: () => sessions.run([tables === 1 ? [copies(1).flat()] : copies(tables)]),
    });
    const measured = await measureInTurns(lab, [
      { name: names.logged, ...load('logged', 1) },
      { name: names.unlogged, ...load('unlogged', 1) },
      { name: names.sixLogged, ...load('logged', files) },
      { name: names.sixUnlogged, ...load('unlogged', files) },
      {
        name: names.texts,
        before: () => reset(url),
        work: async () => runEtl(lab, 'verbatim.ts', [], 'load'),
      },
      {
        name: names.whole,
        before: () => reset(url),
        work: async () => runEtl(lab, 'observation.ts', [], 'all'),
      },
    ]);
    const loaded = await withPg(url, async (client) =>
      Number((await client.query('select count(*) from bench_observation.observation')).rows[0].count),
    );
    check(lab, 'the pipeline publishes every record of the files', loaded === rows, `${loaded} of ${rows}`);
    const sides: readonly Side[] = Object.entries(names).map(([key, name]) => {
      const { seconds, logBytes } = measured(name);
      return {
        name,
        published: published[key as keyof typeof names],
        seconds,
        rowsPerSecond: rows / seconds,
        logBytes,
      };
    });
    const log = (name: string): number => measured(name).logBytes;
    const fileBytes = dataset.files.reduce((sum, { bytes }) => sum + bytes, 0);
    check(
      lab,
      'a COPY into a logged table that was there writes at least the size of its file to the log',
      log(names.logged) > fileBytes,
      `${log(names.logged)} bytes of log for ${fileBytes} bytes of files`,
    );
    check(
      lab,
      'a COPY into an unlogged table writes none of that',
      hasNoRows(log(names.unlogged), log(names.logged)) &&
        hasNoRows(log(names.sixUnlogged), log(names.logged)),
      `${log(names.unlogged)} bytes by one session, ${log(names.sixUnlogged)} by six`,
    );
    const time = (name: string): number => measured(name).seconds;
    return {
      done: `${rows} records in ${files} files of ${Math.round(fileBytes / 1e6)} MB together by ${sessions.description}`,
      sides,
      ratios: [
        {
          name: 'unlogged ÷ logged, 1 core',
          published: 0.65,
          measured: time(names.unlogged) / time(names.logged),
        },
        {
          name: 'unlogged ÷ logged, 4 cores',
          published: 0.82,
          measured: time(names.unlogged) / time(names.logged),
        },
        {
          name: 'six unlogged at once ÷ logged',
          published: 0.27,
          measured: time(names.sixUnlogged) / time(names.logged),
        },
        {
          name: 'sluice, load of the same texts ÷ six unlogged at once',
          measured: time(names.texts) / time(names.sixUnlogged),
        },
        {
          name: 'sluice, all of the run ÷ six unlogged at once',
          measured: time(names.whole) / time(names.sixUnlogged),
        },
      ],
    };
  },
};
