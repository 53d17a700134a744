// Retries publishing while another session's lock or change prevents it, and reports that session.

import { setTimeout as sleep } from 'node:timers/promises';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import {
  TablesLocked,
  createLocksmith,
  holdersOf,
  type Holder,
  type Locksmith,
} from '../../publish/locks.ts';
import { productionName } from '../../db/names.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { watchShapes } from '../../publish/gone.ts';
import { ProductionChanged } from '../../publish/table/production.ts';
import { askTogether } from '../../db/ask-together.ts';
import { isPassing } from '../../publish/refusals.ts';
import type { RunContext, Work } from '../context.ts';
import { stopIfAsked } from '../../core/stop.ts';

const publishWaitMs = 60_000;

/** A notice names a session that has held a lock for this long. */
const patienceMs = 1_000;

/** Returns true if production has changed since the plan was made. Then no session blocks us. */
const isChange = (error: unknown): boolean => error instanceof ProductionChanged || codeOf(error) === '40001';

const everything = (built: readonly BuiltTable[]): TablesLocked['wanted'] => ({
  names: built.map(productionName),
  mode: 'access exclusive',
});

const lockedError = (built: readonly BuiltTable[], holder: Holder | undefined, cause: unknown): EtlError => {
  const table = holder?.table ?? built.map(({ table: name }) => name).join(', ');
  const pids = holder?.pid ?? 'unknown';
  return new EtlError('ETL_PUBLISH_LOCKED', { table, seconds: publishWaitMs / 1_000, pids }, { cause });
};

/**
 * If the server's lock table is full (53200), returns an error that says so; otherwise returns
 * `cause`.
 */
const memoryError = async ({ client }: Work, tables: number, cause: unknown): Promise<unknown> => {
  if (codeOf(cause) !== '53200') return cause;
  const { locks } = (await client.query(`select current_setting('max_locks_per_transaction') as locks`))
    .rows[0];
  return new EtlError('ETL_PUBLISH_MEMORY', { tables, problem: messageOf(cause), locks }, { cause });
};

const relationsOf = (built: readonly BuiltTable[]): number =>
  built.reduce((sum, { partitions = [] }) => sum + 1 + partitions.length, 0);

type Announce = (messages: readonly (string | undefined)[]) => void;

/**
 * Reports the sessions that block a table only once, although the sessions may change at every
 * poll.
 */
const createAnnouncer = ({ report }: Work) => {
  const reported = new Set<string>();
  const once = (what: string, message: string): void => {
    if (reported.has(what)) return;
    reported.add(what);
    report.emit({ type: 'notice', message });
  };
  const announce: Announce = (messages) => {
    for (const message of messages) if (message !== undefined) once(message, message);
  };
  const announceHolders = (holders: readonly Holder[]): void => {
    const [first] = holders;
    if (first === undefined) return;
    const pids = [...new Set(holders.filter(({ table }) => table === first.table).map(({ pid }) => pid))];
    const message = `publishing waits for ${first.table}, which is locked by process ${pids.join(', ')}`;
    once(first.table, message);
  };
  return { announce, announceHolders };
};

/** Runs `work` without counting its time towards the limit for publishing. */
type Untimed = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Repeats `attempt` until it succeeds. Errors: ETL_PUBLISH_LOCKED, ETL_PUBLISH_MEMORY, those of
 * `attempt`.
 */
export const untilPublished = async (
  context: RunContext,
  built: readonly BuiltTable[],
  attempt: (locksmith: Locksmith, announce: Announce, untimed: Untimed) => Promise<unknown>,
): Promise<void> => {
  const { client } = context;
  const { announce, announceHolders } = createAnnouncer(context);
  const locksmith = createLocksmith(client, (holders, waitedMs) => {
    stopIfAsked(context);
    if (waitedMs > patienceMs) announceHolders(holders);
  });
  let deadline = performance.now() + publishWaitMs;
  const untimed: Untimed = async (work) => {
    const start = performance.now();
    const result = await work();
    deadline += performance.now() - start;
    return result;
  };
  for (let number = 1; ; number += 1) {
    stopIfAsked(context);
    let watching: ReturnType<typeof watchShapes> | undefined;
    try {
      await askTogether(client, () => [
        (watching = watchShapes(client, built)),
        attempt(locksmith, announce, untimed),
      ]);
      return;
    } catch (cause) {
      const haveChanged = await watching!;
      // If tables were changed, the next attempt plans again. Proved by
      // test/modes/publish-protects.test.ts, "moved".
      const error = isPassing(cause) || !(await haveChanged(cause)) ? cause : new ProductionChanged();
      if (!isPassing(error)) throw await memoryError(context, relationsOf(built), error);
      const wanted = error instanceof TablesLocked ? error.wanted : everything(built);
      const holders = await holdersOf(client, wanted.names, wanted.mode);
      if (performance.now() > deadline) throw lockedError(built, holders[0], error);
      if (!isChange(error)) announceHolders(holders);
      // Sessions that queued behind our locks get their turn before the next attempt.
      await sleep(Math.min(100 * number, 1_000));
    }
  }
};
