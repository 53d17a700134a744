// A reader that asks ten times a second, night and day, and notes whatever is not one whole state of a night.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isLost } from './lost.ts';
import type { NightMode } from './nights-modes.ts';

const pollMs = 100;

export interface NightReader {
  /** From now on this mode is asked every time; the others are asked in turn. */
  readonly watch: (mode: NightMode) => void;
  /** From now on the production of this mode is one of these states; at first it is not read. */
  readonly allow: (mode: NightMode, states: readonly string[]) => void;
  readonly looked: () => {
    readonly looks: number;
    readonly looksASecond: number;
    readonly longestMs: number;
  };
  readonly wrong: readonly string[];
  readonly stop: () => Promise<void>;
}

/** One state of both tables and of the view, in one statement; the derived table is asked first, the view last. */
export const stateSql = ({ name, dependents }: NightMode): string =>
  `select (select concat_ws(' ', sum(sales), sum(pieces)) from ${name}.total) || ', '
    || (select concat_ws(' ', count(*), sum(pieces), sum(seq)) from ${name}.sale)
    || ${dependents === 'none' ? `''` : `(select concat_ws(' ', ', seen', count(*), sum(pieces)) from ${name}.seen)`} as state`;

/** A transaction whose only snapshot is from now; `endOf` returns the state that it sees when it reads at last. */
export const startOldReader = async (url: string) => {
  const client = new pg.Client({ connectionString: url, application_name: 'old reader at night' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin isolation level repeatable read; select 1');
  return {
    endOf: async (mode: NightMode): Promise<string> => {
      try {
        return (await client.query<{ state: string }>(stateSql(mode))).rows[0]!.state;
      } finally {
        await client.end();
      }
    },
  };
};

/**
 * Reads until it is stopped. `serverFaults` counts the beginnings and the ends of faults of the server, so it is odd during one:
 * only a fault may cost a reader its connection.
 */
export const startNightReader = (url: string, serverFaults: () => number): NightReader => {
  const allowed = new Map<NightMode, readonly string[]>();
  const wrong: string[] = [];
  const start = performance.now();
  let watched: NightMode | undefined;
  let [looks, longestMs, isOver] = [0, 0, false];

  const look = async (client: pg.Client, mode: NightMode, before: readonly string[]): Promise<void> => {
    const asked = performance.now();
    const { rows } = await client.query<{ state: string }>(stateSql(mode));
    longestMs = Math.max(longestMs, Math.round(performance.now() - asked));
    const { state } = rows[0]!;
    // What was asked before a night was over may have the state before it.
    const states = [...before, ...(allowed.get(mode) ?? [])];
    if (!states.includes(state)) wrong.push(`${mode.name}: ${state} instead of ${states.join(' or ')}`);
  };
  const poll = async (client: pg.Client): Promise<void> => {
    const all = [...allowed];
    const inTurn = all[looks % all.length];
    for (const [mode, states] of all)
      if (mode === watched || mode === inTurn?.[0]) await look(client, mode, states);
    looks += 1;
  };
  const readOn = async (): Promise<void> => {
    const before = serverFaults();
    const client = new pg.Client({ connectionString: url, application_name: 'reader at night' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (!isOver) {
        const next = performance.now() + pollMs;
        await poll(client);
        await sleep(Math.max(0, next - performance.now()));
      }
    } catch (error) {
      if (!isLost(error) || (before % 2 === 0 && serverFaults() === before)) wrong.push(String(error));
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const reading = (async () => {
    while (!isOver) {
      await readOn();
      await sleep(pollMs);
    }
  })();
  return {
    allow: (mode, states) => void allowed.set(mode, states),
    watch: (mode) => (watched = mode),
    looked: () => ({
      looks,
      looksASecond: Math.round((10_000 * looks) / (performance.now() - start)) / 10,
      longestMs,
    }),
    wrong,
    stop: async () => {
      isOver = true;
      await reading;
    },
  };
};
