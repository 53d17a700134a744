// Locks production tables: all of them or none, so that readers wait only briefly.
//
// `lock table a, b` locks first a, then b: while it waits for b, readers of a wait, too. So the
// time limit covers the whole statement, and tables that other sessions hold come first. While a
// transaction has held a table for longer than we would wait, we do not even try.
//
// A reader that holds one table and waits for a table that we hold forms a deadlock with us as soon
// as we want the reader's table. We give up before the server's deadlock check for the reader, so
// that the reader is never cancelled. Proved by test/modes/publish-locks.test.ts and
// test/fault/publish-waits.test.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import { lockStates } from '../db/retry.ts';
import { quoteText } from '../db/sql.ts';
import { codeOf } from '../core/errors/errors.ts';

export type LockMode = 'access exclusive' | 'share row exclusive' | 'share update exclusive';

export interface Holder {
  readonly name: string;
  readonly table: string;
  readonly pid: string;
  readonly transaction: string;
  readonly isWaiting: boolean;
}

interface Wanted {
  readonly names: readonly string[];
  readonly mode: LockMode;
}

export class TablesLocked extends Error {
  readonly wanted: Wanted;

  constructor(wanted: Wanted, options: ErrorOptions) {
    super('tables are locked', options);
    this.wanted = wanted;
  }
}

/**
 * How long readers may queue behind us. Even with the swap, they wait less than the two seconds
 * that docs/operations/failures.md promises.
 */
const queueMsMin = 50;
const queueMsMax = 1_600;

/** Share of the time waited so far: enough for short transactions to end. */
const queuedShare = 1 / 3;

/** Time for all attempts, if only writers wait between them, and if readers wait, too. */
const triesMs = 10_000;
const triesWithReadersMs = 1_000;

/** After an attempt we pause for twice its time; meanwhile holders are polled every `lookMs`. */
const pauseMsMax = 1_000;
const lookMs = 100;

/**
 * How long writers may queue behind us. Behind `share update exclusive` only vacuum and DDL queue,
 * so we wait longer than `deadlock_timeout`, after which the server cancels autovacuum.
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

/** Returns the sessions for which a lock on these tables (quoted names) would wait. */
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

const isLocked = (error: unknown): boolean => lockStates.has(codeOf(error) ?? '');

/** We wait for this share of `deadlock_timeout`; the rest is for the statements that follow. */
const deadlockPercent = 80;

/** SQL: milliseconds until the server's deadlock check for a session that begins to wait now. */
const untilDeadlock = `extract(epoch from current_setting('deadlock_timeout')::interval) * ${10 * deadlockPercent}`;

const setTimeLimit = (name: 'statement_timeout' | 'lock_timeout', ms: string): string =>
  `select set_config('${name}', greatest(1, floor(${ms}))::text, true);`;

const sinceMessage = `extract(epoch from clock_timestamp() - statement_timestamp()) * 1000`;

/** If less time is left, we do not wait, because taking 400 free locks needs part of it. */
const othersMsMin = 20;

const doing = (body: string): string => `do ${quoteText(`begin ${body} end`)};`;

/**
 * Locks tables while we hold another, whose readers may be waiting. So it waits at most until the
 * server's deadlock check for those readers. Proved by test/modes/publish-locks.test.ts, "is never
 * the victim".
 */
const lockOthers = (names: readonly string[], mode: LockMode): string => {
  const lock = `lock table ${names.join(', ')} in ${mode} mode`;
  const restMs = `${untilDeadlock} - ${sinceMessage}`;
  return `select set_config('statement_timeout', floor(case when ${restMs} > ${othersMsMin} then ${restMs} else 0 end)::text, true);
    ${doing(`if current_setting('statement_timeout') = '0' then ${lock} nowait; else ${lock}; end if;`)}`;
};

/**
 * Takes all locks within `ms` milliseconds, or fails. `only`: 'only ' excludes partitions. `first`:
 * PL/pgSQL statements that take other locks. While it waits for the first table, we hold no other,
 * so no deadlock is possible.
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
 * Takes locks that block no reader, but prevent most changes of the tables. Writers of the
 * `written` tables wait. Errors: TablesLocked.
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
  await askTogether(client, () => [
    take(swapped, 'share update exclusive', vacuumWaitMs),
    take(written, 'share row exclusive', writersWaitMs),
  ]);
};

/**
 * Takes the exclusive right to publish these tables (quoted names) until the transaction ends.
 * Every session takes the right before table locks and in the same order, so sessions cannot
 * deadlock. Errors: TablesLocked.
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
 * SQL that limits how long the rest of the query waits for locks of `others` tables, all waits
 * together, while readers wait for ours. Proved by test/modes/foreign-keys.test.ts, "is never the
 * victim".
 */
export const boundWaits = (queueMs: number, others: number): string => {
  const restMs = `least(${queueMs}, ${untilDeadlock} - ${sinceMessage})`;
  return setTimeLimit('lock_timeout', `${restMs} / ${Math.max(1, others)}`);
};

export interface Locksmith {
  /**
   * Calls `take` with the tables in locking order until it gets all locks. The surrounding
   * transaction stays open; `readersWait` says that its locks already block readers. Fails at once
   * if a holder waits for our transaction: that session cannot go on before we end. `before`: one
   * query, sent before each call of `take`, and rolled back with it. Errors: TablesLocked.
   */
  readonly untilTaken: (
    names: readonly string[],
    readersWait: boolean,
    take: (names: readonly string[], queueMs: number) => Promise<unknown>,
    before?: () => Promise<unknown>,
  ) => Promise<void>;
}

export const createLocksmith = (
  client: Client,
  onWait: (holders: readonly Holder[], waitedMs: number) => void,
): Locksmith => {
  let start: number | undefined;
  const seen = new Map<string, number>();

  const oldestMs = (holders: readonly Holder[]): number => {
    const now = performance.now();
    for (const { transaction } of holders) if (!seen.has(transaction)) seen.set(transaction, now);
    for (const known of seen.keys())
      if (!holders.some(({ transaction }) => transaction === known)) seen.delete(known);
    return Math.max(0, ...holders.map(({ transaction }) => now - seen.get(transaction)!));
  };

  const untilTaken: Locksmith['untilTaken'] = async (names, readersWait, take, before) => {
    start ??= performance.now();
    const deadline = performance.now() + (readersWait ? triesWithReadersMs : triesMs);
    let cause: unknown;
    const ready = () => [client.query('savepoint unlocked'), before?.() ?? Promise.resolve()];
    const undo = () => client.query('rollback to savepoint unlocked; release savepoint unlocked');
    for (let isFirst = true; ; isFirst = false) {
      const waitedMs = performance.now() - start;
      const queueMs = Math.min(Math.max(queueMsMin, waitedMs * queuedShare), queueMsMax);
      // Usually nobody holds a table, so the first attempt is made ready without knowing.
      const [holders] = await askTogether(client, () => [
        holdersOf(client, names, 'access exclusive'),
        ...(isFirst ? ready() : []),
      ]);
      // This holder waits for us. If we waited, too, the server would cancel it before us.
      if (holders.some(({ isWaiting }) => isWaiting))
        throw new TablesLocked({ names, mode: 'access exclusive' }, {});
      const isWorthIt = oldestMs(holders) <= queueMs;
      if (isWorthIt) {
        const held = new Set(holders.map(({ name }) => name));
        const ordered = [
          ...names.filter((name) => held.has(name)),
          ...names.filter((name) => !held.has(name)),
        ];
        try {
          if (!isFirst) await askTogether(client, ready);
          await take(ordered, queueMs);
          return;
        } catch (error) {
          if (!isLocked(error)) throw error;
          cause = error;
        }
      }
      if (isWorthIt || isFirst) await undo();
      if (performance.now() > deadline)
        throw new TablesLocked({ names, mode: 'access exclusive' }, { cause });
      onWait(holders, waitedMs);
      await sleep(isWorthIt ? Math.min(2 * queueMs, pauseMsMax) : lookMs);
    }
  };
  return { untilTaken };
};
