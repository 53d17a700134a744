// Locks production tables: all of them or none, so that readers wait only briefly.
//
// `lock table a, b` locks one table after the other. While it waits for b, readers of a wait, too.
// So the time limit is for the whole statement, tables that other sessions hold come first, so that
// we wait for them without holding other tables, and we do not even try while a transaction has
// held a table for longer than we would wait.
//
// A reader who holds one table and waits for another one that we hold forms a deadlock with us as
// soon as we want the reader's table. We give up before the server starts its deadlock check for
// the reader, so the reader is never the victim. Proved by test/modes/publish-locks.test.ts and
// test/fault/publish-waits.test.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../db/client.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import { lockStates } from '../db/retry.ts';
import { quoteText } from '../db/sql.ts';
import { codeOf } from '../core/errors/errors.ts';

export type LockMode = 'access exclusive' | 'share row exclusive' | 'share update exclusive';

/** A session that holds a lock on a table, as pg_locks shows it. */
export interface Holder {
  readonly name: string;
  /** The table's name for people. */
  readonly table: string;
  readonly pid: string;
  readonly transaction: string;
  /** True if the session waits for a lock of ours. */
  readonly isWaiting: boolean;
}

/** Quoted names of the tables, and the lock mode that was requested. */
interface Wanted {
  readonly names: readonly string[];
  readonly mode: LockMode;
}

/** Thrown when the locks did not become free in time. */
export class TablesLocked extends Error {
  readonly wanted: Wanted;

  constructor(wanted: Wanted, options: ErrorOptions) {
    super('tables are locked', options);
    this.wanted = wanted;
  }
}

/**
 * Time for which readers may queue behind us: at first, and at most. With the swap itself, the
 * maximum stays below the two seconds that docs/operations/failures.md promises.
 */
const queueMsMin = 50;
const queueMsMax = 1_600;

/** We queue for this share of the time waited so far: passes short transactions, not long ones. */
const queuedShare = 1 / 3;

/** Time for all tries. Writers wait between them, too; in the second case also readers. */
const triesMs = 10_000;
const triesWithReadersMs = 1_000;

/** A pause lasts twice the last try, at most `pauseMsMax`; holders are polled every `lookMs`. */
const pauseMsMax = 1_000;
const lookMs = 100;

/**
 * Time for which writers may queue behind us. For the weakest lock mode, only vacuum and DDL queue
 * behind us, so we wait longer than `deadlock_timeout`: the server then cancels autovacuum.
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

/** Lock modes that each mode waits for. PostgreSQL, "Explicit Locking", Conflicting Lock Modes. */
const conflicts: Readonly<Record<LockMode, readonly string[]>> = {
  'share update exclusive': strongModes,
  'share row exclusive': ['RowExclusiveLock', ...strongModes],
  'access exclusive': ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock', ...strongModes],
};

/** Sessions with locks on these tables (quoted names) that a lock in this mode would wait for. */
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

/** True for a timeout (lock or statement) or a deadlock: another try may succeed. */
const isLocked = (error: unknown): boolean => lockStates.has(codeOf(error) ?? '');

/** Share of `deadlock_timeout` that we wait; the rest is for the statements that follow. */
const deadlockPercent = 80;

/** SQL: milliseconds from now until the server checks for a deadlock on behalf of a new waiter. */
const untilDeadlock = `extract(epoch from current_setting('deadlock_timeout')::interval) * ${10 * deadlockPercent}`;

const setTimeLimit = (name: 'statement_timeout' | 'lock_timeout', ms: string): string =>
  `select set_config('${name}', greatest(1, floor(${ms}))::text, true);`;

/** SQL: milliseconds since the server received the query. */
const sinceMessage = `extract(epoch from clock_timestamp() - statement_timestamp()) * 1000`;

/** With less time left, do not wait at all: even 400 free locks take part of it. */
const othersMsMin = 20;

const doing = (body: string): string => `do ${quoteText(`begin ${body} end`)};`;

/**
 * Statements that lock these tables while we hold another one. Its readers may have waited since
 * the query began, so we wait only until the server would check for a deadlock on their behalf, or
 * not at all. Proved by test/modes/publish-locks.test.ts, "is never the victim".
 */
const lockOthers = (names: readonly string[], mode: LockMode): string => {
  const lock = `lock table ${names.join(', ')} in ${mode} mode`;
  const restMs = `${untilDeadlock} - ${sinceMessage}`;
  return `select set_config('statement_timeout', floor(case when ${restMs} > ${othersMsMin} then ${restMs} else 0 end)::text, true);
    ${doing(`if current_setting('statement_timeout') = '0' then ${lock} nowait; else ${lock}; end if;`)}`;
};

/**
 * Statements that take all these locks within `ms` milliseconds, or fail. `only`: 'only ' excludes
 * partitions. `first`: PL/pgSQL statements that take other locks first, within the same time. While
 * waiting for the first table we hold no other one, so nobody can deadlock with us.
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
 * Takes locks that do not block readers. They prevent all changes of the tables except to views,
 * functions and grants. Writers of the tables in `written` have to wait. Errors: TablesLocked.
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
 * Takes the exclusive right to publish these tables (quoted names) until the transaction ends, also
 * if a table does not exist yet. All sessions take the right in the same order and before any table
 * lock, so they cannot deadlock. Errors: TablesLocked.
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
 * A statement that limits the waits of the following statements in the same query. They wait for
 * locks of `others` other tables while readers already wait for ours; the limit is for all these
 * waits together. Proved by test/modes/foreign-keys.test.ts, "is never the victim".
 */
export const boundWaits = (queueMs: number, others: number): string => {
  const restMs = `least(${queueMs}, ${untilDeadlock} - ${sinceMessage})`;
  return setTimeLimit('lock_timeout', `${restMs} / ${Math.max(1, others)}`);
};

/** Takes locks that block readers. */
export interface Locksmith {
  /**
   * Calls `take` with the tables in locking order and a time limit, again and again, until it gets
   * all locks. The surrounding transaction stays open. `readersWait`: readers already wait for
   * locks of that transaction. Fails at once if a holder itself waits for the transaction, because
   * that session cannot go on before the transaction ends. Errors: TablesLocked.
   */
  readonly untilTaken: (
    names: readonly string[],
    readersWait: boolean,
    take: (names: readonly string[], queueMs: number) => Promise<unknown>,
  ) => Promise<void>;
}

/** Remembers how long each holder has held tables. `onWait` may throw to stop the waiting. */
export const createLocksmith = (
  client: Client,
  onWait: (holders: readonly Holder[], waitedMs: number) => void,
): Locksmith => {
  let start: number | undefined;
  const seen = new Map<string, number>();

  /** Returns for how long, in milliseconds, we have seen the oldest of these transactions. */
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
      // This holder waits for us. If we waited, too, its deadlock check would run before ours.
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
