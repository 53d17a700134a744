// Readers of a chaos test: each polls the tables of a pipeline, and notes whatever is not one complete version of them.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { differences, productionSql, type Seen } from './chaos-oracle.ts';
import type { ChaosPipeline } from './chaos-pipelines.ts';
import { isLost } from './lost.ts';

const pollMs = 40;

/** So many polls are cheap between two that compare every row. */
const cheapPolls = 15;

/** Sessions that are no concern of the product's carry this name. */
export const readerName = 'chaos reader';

export interface Reader {
  /** The newest version that it saw; 0 before the first. */
  readonly version: () => number;
  readonly polls: () => number;
  /** The longest that one statement took, in milliseconds: it is reported, not judged. */
  readonly longestMs: () => number;
  readonly wrong: readonly string[];
  readonly stop: () => Promise<void>;
}

/**
 * Reads until it is stopped. `serverFaults` counts the beginnings and the ends of faults of the server, so it is odd during one:
 * only a fault may cost a reader its connection.
 */
export const startReader = (url: string, pipeline: ChaosPipeline, serverFaults: () => number): Reader => {
  const { name, tables, expected } = pipeline;
  const wrong: string[] = [];
  let [version, polls, longestMs, isOver] = [0, 0, 0, false];

  const judge = (seen: readonly Seen[]): void => {
    const [least, most] = [
      Math.min(...seen.map((each) => each.least)),
      Math.max(...seen.map((each) => each.most)),
    ];
    const found = [...differences(seen, least === most ? expected(least) : undefined)];
    if (least < version) found.push(`version ${least} after ${version}`);
    if (found.length > 0) wrong.push(`${new Date().toISOString()} ${name}: ${found.join('; ')}`);
    version = Math.max(version, most);
  };
  const poll = async (client: pg.Client): Promise<void> => {
    const started = performance.now();
    const { rows } = await client.query<Seen>(productionSql(name, tables, polls % cheapPolls === 0));
    longestMs = Math.max(longestMs, performance.now() - started);
    polls += 1;
    judge(rows);
  };
  const readOn = async (): Promise<void> => {
    const before = serverFaults();
    const client = new pg.Client({ connectionString: url, application_name: readerName });
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (!isOver) {
        await poll(client);
        await sleep(pollMs);
      }
    } catch (error) {
      const isExcused = isLost(error) && (before % 2 === 1 || serverFaults() > before);
      if (!isExcused)
        wrong.push(
          `${new Date().toISOString()} ${name}: ${String(error)} ${(error as { code?: string }).code}`,
        );
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
    version: () => version,
    polls: () => polls,
    longestMs: () => Math.round(longestMs),
    wrong,
    stop: async () => {
      isOver = true;
      await reading;
    },
  };
};
