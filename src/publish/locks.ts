// Takes locks on production tables: all of them or none, and no reader waits for us longer than a moment.
//
// `lock table a, b` takes one lock after the other, and each table that it has reached is closed to readers while it waits for
// the next. So the time is bounded for the statement, not for a lock; tables that somebody holds come first, so that it waits
// with empty hands; and nobody queues behind us for a transaction that has lasted longer than we would wait. A reader who holds
// one table and waits for another that we have, or are about to get, is in a deadlock with us as soon as we want his. We give up
// before the server looks for one on his behalf, and he goes on.
// Proved by test/modes/publish-locks.test.ts and test/fault/publish-locked.test.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../db/client.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import { lockStates } from '../db/retry.ts';
import { quoteText } from '../db/sql.ts';
import { codeOf } from '../core/errors/errors.ts';

export type LockMode = 'access exclusive' | 'share row exclusive' | 'share update exclusive';

/** A session that holds a table, as far as the server shows it. */
export interface Holder {
  readonly name: string;
  /** As people write it. */
  readonly table: string;
  readonly pid: string;
  readonly transaction: string;
  /** For a lock of ours. */
  readonly isWaiting: boolean;
}

/** Quoted names of tables, and the lock that was asked for. */
interface Wanted {
  readonly names: readonly string[];
  readonly mode: LockMode;
}

/** Thrown when the locks were not free in time. */
export class TablesLocked extends Error {
  readonly wanted: Wanted;

  constructor(wanted: Wanted, options: ErrorOptions) {
    super('tables are locked', options);
    this.wanted = wanted;
  }
}

/**
 * How long readers may queue behind us: at first, and at most. The swap included, that is below the two seconds of failures.md.
 */
const queueMsMin = 50;
const queueMsMax = 1_600;

/** We queue for this share of the time that we have waited: long enough for overlapping transactions, not for long ones. */
const queuedShare = 1 / 3;

/** Between tries a transaction keeps its locks, for which writers and sometimes readers wait: so it tries only for this long. */
const triesMs = 10_000;
const triesWithReadersMs = 1_000;

/** After a try readers get twice its time, at most this; holders are polled at the same interval. */
const pauseMsMax = 1_000;
const lookMs = 100;

/**
 * How long writers may queue behind us. Only vacuum and DDL queue behind the weakest lock, so we wait longer for it than
 * `deadlock_timeout`, after which the server cancels an autovacuum in the way.
 */
const writersWaitMs = 2_000;
const vacuumWaitMs = 5_000;

const strongModes = [
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
];

/** What each mode waits for. PostgreSQL, "Explicit Locking", Conflicting Lock Modes. */
const conflicts: Readonly<Record<LockMode, readonly string[]>> = {
  'share update exclusive': strongModes,
  'share row exclusive': ['RowExclusiveLock', ...strongModes],
  'access exclusive': ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock', ...strongModes],
};

/** Holders of locks on these tables, by quoted names, that a lock in this mode waits for. */
export const holdersOf = async (
  client: Client,
  names: readonly string[],
  mode: LockMode,
): Promise<readonly Holder[]> =>
  (
    await client.query(
      `select n.name, l.relation::regclass::text as table, l.virtualtransaction as transaction,
          coalesce(l.pid::text, 'none (a prepared transaction)') as pid,
          coalesce(pg_backend_pid() = any (pg_blocking_pids(l.pid)), false) as "isWaiting"
        from unnest($1::text[]) with ordinality as n (name, place) join pg_locks l on l.relation = to_regclass(n.name)
        where l.locktype = 'relation' and l.granted and l.mode = any ($2) and l.pid is distinct from pg_backend_pid()
          and l.database = (select oid from pg_database where datname = current_database())
        order by n.place, l.pid`,
      [names, conflicts[mode]],
    )
  ).rows;

/** Lock, deadlock or statement timeout: another try may meet nobody. */
const isLocked = (error: unknown): boolean => lockStates.has(codeOf(error) ?? '');

/** Of the server's `deadlock_timeout`: the rest is for the statements that do not wait. */
const deadlockPercent = 80;

/** SQL: milliseconds that are over before the server looks for a deadlock on behalf of somebody who queues behind us from now on. */
const untilDeadlock = `extract(epoch from current_setting('deadlock_timeout')::interval) * ${10 * deadlockPercent}`;

const setTimeLimit = (name: 'statement_timeout' | 'lock_timeout', ms: string): string =>
  `select set_config('${name}', greatest(1, floor(${ms}))::text, true);`;

/** SQL: milliseconds since the server got the message. */
const sinceMessage = `extract(epoch from clock_timestamp() - statement_timestamp()) * 1000`;

/** Less is no time to wait: taking four hundred locks that are free takes a part of it. */
const othersMsMin = 20;

const doing = (body: string): string => `do ${quoteText(`begin ${body} end`)};`;

/**
 * Statements that lock these while we have another one, for which readers may have waited since the message began: before the server looks
 * for a deadlock on their behalf, or without waiting at all. Proved by test/modes/publish-locks.test.ts, "is never the victim".
 */
const lockOthers = (names: readonly string[], mode: LockMode): string => {
  const lock = `lock table ${names.join(', ')} in ${mode} mode`;
  const restMs = `${untilDeadlock} - ${sinceMessage}`;
  return `select set_config('statement_timeout', floor(case when ${restMs} > ${othersMsMin} then ${restMs} else 0 end)::text, true);
    ${doing(`if current_setting('statement_timeout') = '0' then ${lock} nowait; else ${lock}; end if;`)}`;
};

/**
 * Statements that take all these locks within a time, or fail. Partitions of a table are locked with it unless `only` is said. `first`:
 * what PL/pgSQL has to lock before, within the same time. For the first of several tables we wait with empty hands, so nobody can be the
 * victim of a deadlock meanwhile.
 */
export const lockTables = (
  names: readonly string[],
  mode: LockMode,
  ms: number,
  only = '',
  first = '',
): string => {
  if (names.length === 0) return '';
  const [one, ...others] = names.map((name) => only + name);
  const lock = `lock table ${[one, ...others].join(', ')} in ${mode} mode;`;
  const within = (limit: string, statement: string): string =>
    `${setTimeLimit('statement_timeout', limit)} ${statement} set local statement_timeout = 0;`;
  if (mode !== 'access exclusive') return within(String(ms), lock);
  if (only === '' || first !== '')
    return within(`least(${ms}, ${untilDeadlock})`, first === '' ? lock : doing(`${first} ${lock}`));
  if (others.length === 0) return within(String(ms), lock);
  return within(String(ms), `lock table ${one} in ${mode} mode; ${lockOthers(others, mode)}`);
};

/**
 * Takes locks that readers do not feel. They freeze what depends on the tables, except views, functions and grants; `written` are
 * closed to writers, too. Errors: TablesLocked.
 */
export const lockQuietly = async (
  client: Client,
  written: readonly string[],
  swapped: readonly string[],
): Promise<void> => {
  const take = async (names: readonly string[], mode: LockMode, ms: number): Promise<void> => {
    if (names.length === 0) return;
    await client.query(lockTables(names, mode, ms)).catch((cause: unknown) => {
      throw isLocked(cause) ? new TablesLocked({ names, mode }, { cause }) : cause;
    });
  };
  await take(swapped, 'share update exclusive', vacuumWaitMs);
  await take(written, 'share row exclusive', writersWaitMs);
};

/**
 * Takes the right to publish these tables, by their quoted names, until the transaction ends: others who publish one of them wait, also while
 * it does not exist. Everybody takes it in one order, before any lock on a table, so that nobody waits in a circle. Errors: TablesLocked.
 */
export const lockPublishing = async (client: Client, names: readonly string[]): Promise<void> => {
  if (names.length === 0) return;
  const keys = names.toSorted().map((name) => quoteText(`sluice table ${name}`));
  const lock = `select pg_advisory_xact_lock(hashtextextended(name, ${lockSpace})) from unnest(array[${keys.join(', ')}]) as name;`;
  await client
    .query(
      `${setTimeLimit('statement_timeout', String(writersWaitMs))} ${lock} set local statement_timeout = 0;`,
    )
    .catch((cause: unknown) => {
      throw isLocked(cause) ? new TablesLocked({ names, mode: 'share update exclusive' }, { cause }) : cause;
    });
};

/**
 * A statement that bounds the next ones of its message, which wait for the locks of `others` other tables while readers wait for ours: all
 * their waits together, and those of the message before them. Proved by test/modes/foreign-keys.test.ts, "is never the victim".
 */
export const boundWaits = (queueMs: number, others: number): string => {
  const restMs = `least(${queueMs}, ${untilDeadlock} - ${sinceMessage})`;
  return setTimeLimit('lock_timeout', `${restMs} / ${Math.max(1, others)}`);
};

/** Takes locks that readers feel. */
export interface Locksmith {
  /**
   * Calls `take` with the tables in locking order and a time limit, until no lock makes it fail. The surrounding transaction
   * stays open; `readersWait` for it already. Somebody who holds one of them and waits for what that transaction has locked will not let go
   * before it ends. Errors: TablesLocked.
   */
  readonly untilTaken: (
    names: readonly string[],
    readersWait: boolean,
    take: (names: readonly string[], queueMs: number) => Promise<unknown>,
  ) => Promise<void>;
}

/** Creates one for a publication; it remembers how long each holder has held tables. `onWait` may throw to stop. */
export const createLocksmith = (
  client: Client,
  onWait: (holders: readonly Holder[], waitedMs: number) => void,
): Locksmith => {
  let start: number | undefined;
  const seen = new Map<string, number>();

  /** For how long the oldest of these transactions has been seen. */
  const oldestMs = (holders: readonly Holder[]): number => {
    const now = performance.now();
    for (const { transaction } of holders) if (!seen.has(transaction)) seen.set(transaction, now);
    for (const known of seen.keys())
      if (!holders.some(({ transaction }) => transaction === known)) seen.delete(known);
    return Math.max(0, ...holders.map(({ transaction }) => now - seen.get(transaction)!));
  };

  const untilTaken: Locksmith['untilTaken'] = async (names, readersWait, take) => {
    start ??= performance.now();
    const deadline = performance.now() + (readersWait ? triesWithReadersMs : triesMs);
    let cause: unknown;
    for (;;) {
      const waitedMs = performance.now() - start;
      const queueMs = Math.min(Math.max(queueMsMin, waitedMs * queuedShare), queueMsMax);
      const holders = await holdersOf(client, names, 'access exclusive');
      // The one who waits longest looks for a deadlock, and would be its victim.
      if (holders.some(({ isWaiting }) => isWaiting))
        throw new TablesLocked({ names, mode: 'access exclusive' }, {});
      const isWorthIt = oldestMs(holders) <= queueMs;
      if (isWorthIt) {
        const held = new Set(holders.map(({ name }) => name));
        const ordered = [
          ...names.filter((name) => held.has(name)),
          ...names.filter((name) => !held.has(name)),
        ];
        await client.query('savepoint unlocked');
        try {
          await take(ordered, queueMs);
          return;
        } catch (error) {
          if (!isLocked(error)) throw error;
          cause = error;
        }
        await client.query('rollback to savepoint unlocked');
      }
      if (performance.now() > deadline)
        throw new TablesLocked({ names, mode: 'access exclusive' }, { cause });
      onWait(holders, waitedMs);
      await sleep(isWorthIt ? Math.min(2 * queueMs, pauseMsMax) : lookMs);
    }
  };
  return { untilTaken };
};
