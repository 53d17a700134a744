// Records whether a run's hook `published` has ended.

import type { Client } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import type { EtlError } from '../../core/errors/errors.ts';

export const setHookPending = (runId: number): Query => ({
  text: 'update etl.run set hook_pending = true where id = $1',
  values: [runId],
});

/** Records that the hooks of this run and of all earlier runs have ended. */
export const hookEnded = (
  pipeline: string,
  runId: number,
  error?: Pick<EtlError, 'code' | 'message'>,
): Query => ({
  text: `update etl.run set hook_pending = false, error_code = case id when $2 then $3 else error_code end,
      error = case id when $2 then $4 else error end
    where pipeline = $1 and id <= $2 and hook_pending`,
  values: [pipeline, runId, error?.code ?? null, error === undefined ? null : storable(error.message)],
});

export const pendingHook = async (client: Client, pipeline: string): Promise<number | undefined> =>
  (
    await client.query(
      `select id::float8 as id from etl.run where pipeline = $1 and hook_pending and state = 'published' order by id desc limit 1`,
      [pipeline],
    )
  ).rows[0]?.id;
