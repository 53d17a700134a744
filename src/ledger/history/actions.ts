// What visitors of the page did, as etl.audit has it.

import { isThere, type Client } from '../../db/client.ts';
import type { RunState } from '../../core/model.ts';

export type ActionName = 'cancel' | 'retry' | 'run' | 'pause' | 'resume' | 'board';
export type ActionKind = 'run' | 'schedule' | 'pipeline' | 'queue';

/** An action of a visitor, and what became of it. */
export interface RecordedAction {
  readonly id: number;
  readonly askedAt: Date;
  /** null: it is under way, or its process did not live to say. */
  readonly endedAt: Date | null;
  readonly action: ActionName;
  readonly kind: ActionKind;
  /** Number of a run, or a name. */
  readonly subject: string;
  /** Who, as the page's host says. */
  readonly person: string | null;
  readonly address: string | null;
  /** A browser, by a few letters. */
  readonly visitor: string;
  /** null: it was done. */
  readonly errorCode: string | null;
  readonly detail: string | null;
}

export interface ActionsWanted {
  readonly id?: number;
  readonly kind?: ActionKind;
  readonly subject?: string;
  readonly limit: number;
}

/** The newest first. A database without bookkeeping has none. */
export const listActions = async (
  client: Client,
  { id, kind, subject, limit }: ActionsWanted,
): Promise<readonly RecordedAction[]> => {
  if (!(await isThere(client, 'etl.audit'))) return [];
  const text = `select id::float8 as id, asked_at as "askedAt", ended_at as "endedAt", action, kind, subject, person, address,
      visitor, error_code as "errorCode", detail
    from etl.audit
    where ($1::bigint is null or id = $1) and ($2::text is null or kind = $2) and ($3::text is null or subject = $3)
    order by id desc limit $4`;
  return (await client.query(text, [id, kind, subject, limit])).rows;
};

/** Which run it is and how far, cheaply; undefined: there is no such run. */
export const runInShort = async (
  client: Client,
  run: number,
): Promise<{ readonly pipeline: string; readonly state: RunState } | undefined> => {
  if (!(await isThere(client, 'etl.run'))) return undefined;
  return (await client.query('select pipeline, state from etl.run where id = $1', [run])).rows[0];
};
