// Reads the actions of the page's visitors from etl.audit.

import { isThere, rowsOf, type Client } from '../../db/client.ts';
import type { RunState } from '../../core/model.ts';

export type ActionName = 'cancel' | 'retry' | 'run' | 'pause' | 'resume' | 'board';
type ActionKind = 'run' | 'schedule' | 'pipeline' | 'queue';

export interface RecordedAction {
  readonly id: number;
  readonly askedAt: Date;
  /** null: the action is under way, or its process was killed. */
  readonly endedAt: Date | null;
  readonly action: ActionName;
  readonly kind: ActionKind;
  readonly subject: string;
  /** Known if the host of the page names its users. */
  readonly person: string | null;
  readonly address: string | null;
  readonly visitor: string;
  readonly errorCode: string | null;
  readonly detail: string | null;
}

interface ActionsWanted {
  readonly id?: number;
  readonly kind?: ActionKind;
  readonly subject?: string;
  readonly limit: number;
}

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
  return rowsOf(client, { text, values: [id, kind, subject, limit] });
};

export const runInShort = async (
  client: Client,
  run: number,
): Promise<{ readonly pipeline: string; readonly state: RunState } | undefined> => {
  if (!(await isThere(client, 'etl.run'))) return undefined;
  return (await client.query('select pipeline, state from etl.run where id = $1', [run])).rows[0];
};
