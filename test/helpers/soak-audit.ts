// The account of every slot of a soak: triggers write down each change of etl.schedule and etl.run, in its own transaction.

import { retryByCode } from '../../src/db/retry.ts';
import type { TestDatabase } from './server.ts';
import type { SoakPipeline } from './soak-pipelines.ts';

/** To be run when etl.schedule is there and nobody has a schedule yet. */
export const auditSql = `
  create schema soak;
  create table soak.slot (
    id bigint generated always as identity, transaction xid8 not null default pg_current_xact_id(), name text,
    due timestamptz, slot timestamptz, outcome text, next timestamptz);
  create table soak.job (
    id bigint generated always as identity, transaction xid8 not null default pg_current_xact_id(), name text,
    job text, state text);
  create table soak.published (run bigint, job text, pid integer);
  create function soak.note_schedule() returns trigger language plpgsql as $$ begin
    if new.next_slot <> old.next_slot then
      insert into soak.slot (name, due, slot, outcome, next)
        values (new.name, old.next_slot, new.last_slot, new.last_outcome, new.next_slot);
    end if;
    if (new.job, new.job_state) is distinct from (old.job, old.job_state) then
      insert into soak.job (name, job, state) values (new.name, new.job, new.job_state);
    end if;
    return null;
  end $$;
  create trigger note after update on etl.schedule for each row execute function soak.note_schedule();
  create function soak.note_run() returns trigger language plpgsql as $$ begin
    insert into soak.published values (new.id, new.job, new.pid);
    return null;
  end $$;
  create trigger note after update of state on etl.run for each row
    when (new.state = 'published' and old.state <> 'published') execute function soak.note_run();`;

/** Jobs that have ended, by their newest word. */
export const endedSql = `
  select count(distinct job)::int as ended from soak.job where state in ('published', 'unchanged')`;

interface SlotRow {
  readonly due: number;
  readonly slot: number;
  readonly outcome: string;
  readonly next: number;
  /** Job that was decided on in the same transaction. */
  readonly job: string | null;
}

export interface Account {
  readonly slots: number;
  readonly enqueued: number;
  readonly skipped: number;
  readonly missed: number;
  /** Left out for a newer one that was due at the same look. */
  readonly collapsed: number;
  /** What does not add up. */
  readonly problems: readonly string[];
}

const slotRows = async (database: TestDatabase, name: string): Promise<readonly SlotRow[]> =>
  (
    await database.query<SlotRow & { readonly [column: string]: unknown }>(
      `select extract(epoch from due)::float8 as due, extract(epoch from slot)::float8 as slot, outcome,
          extract(epoch from next)::float8 as next, j.job
        from soak.slot s left join soak.job j using (transaction, name) where name = $1 order by s.id`,
      [name],
    )
  ).rows;

/** Follows one schedule from its first slot to the next one to come; slots are the multiples of its seconds. */
const accountOf = (name: string, seconds: number, first: number, rows: readonly SlotRow[]): Account => {
  const counts = { enqueued: 0, skipped: 0, missed: 0 };
  const problems: string[] = [];
  let [due, collapsed] = [first, 0];
  for (const row of rows) {
    const { slot, next, outcome, job } = row;
    const isSlot = slot % seconds === 0 && slot >= row.due && next === slot + seconds;
    const isDecided = (outcome === 'enqueued') === (job !== null);
    if (row.due !== due || !isSlot || !isDecided)
      problems.push(`${name}: ${JSON.stringify(row)} after ${due}`);
    counts[outcome as keyof typeof counts] += 1;
    collapsed += (slot - row.due) / seconds;
    due = next;
  }
  const slots = (due - first) / seconds;
  const { enqueued, skipped, missed } = counts;
  if (enqueued + skipped + missed + collapsed !== slots)
    problems.push(`${name}: ${slots} slots do not add up`);
  return { slots, ...counts, collapsed, problems };
};

/** The accounts of all schedules; `first` is the first slot of each, in seconds since 1970. */
export const accountsOf = async (
  database: TestDatabase,
  pipelines: readonly SoakPipeline[],
  first: ReadonlyMap<string, number>,
): Promise<Account> => {
  const total = { slots: 0, enqueued: 0, skipped: 0, missed: 0, collapsed: 0 };
  const problems: string[] = [];
  for (const { name, seconds } of pipelines) {
    const account = accountOf(name, seconds, first.get(name)!, await slotRows(database, name));
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += account[key];
    problems.push(...account.problems);
  }
  return { ...total, problems };
};

/** Each job that was decided on: every state that its schedule recorded for it, and its runs in the ledger. */
export const jobsSql = `
  select job, array_agg(state order by id) as states,
      (select count(*)::int from etl.run r where r.job = j.job) as runs,
      (select count(*)::int from etl.run r where r.job = j.job and r.state = 'published') as published,
      (select count(*)::int from soak.published p where p.job = j.job) as publications
    from soak.job j group by job order by min(id)`;

export interface JobRow {
  readonly [column: string]: unknown;
  readonly job: string;
  readonly states: readonly string[];
  readonly runs: number;
  readonly published: number;
  readonly publications: number;
}

/** Whether a run that ended with this code is tried again. */
export const isPassing = (code: string): boolean => retryByCode[code] === 'server';

/**
 * Published once, by one run, or unchanged without any; nothing else was said of it but how it went on. Of a job that was delivered
 * twice, because its worker was paused, the second may find files that the first did not: then it is unchanged, and published.
 */
export const isRight = ({ states, runs, published, publications }: JobRow): boolean => {
  const ends = states.filter((state) => !['pending', 'enqueued'].includes(state) && !isPassing(state));
  const wanted = ends.at(-1) === 'published' ? 1 : 0;
  const isSettled = ends.at(-1) === states.at(-1) && /^(?:unchanged,?)*(?:published,?)*$/.test(ends.join());
  return isSettled && [runs, published, publications].every((count) => count === wanted);
};
