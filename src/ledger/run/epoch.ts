// The crash epoch: a uuid in the unlogged table etl.canary.
//
// A crash, the promotion of a standby and a restore from a physical backup empty etl.canary and our
// staging tables; a clean restart keeps both. So reading one row tells if staging is intact. A
// chunk counts only if its epoch is that of its run.

import { advisoryKeys } from '../../db/connect/advisory-keys.ts';
import { holdsPipelineLock } from '../../db/session/advisory-lock.ts';
import { withTransaction, type Client, type QueryResult } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import type { Query } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Lease } from '../../core/model.ts';
import { whyStopped } from './run-end.ts';

export const readEpoch = async (client: Client): Promise<string | undefined> =>
  (await client.query('select epoch from etl.canary')).rows[0]?.epoch;

/** Returns the epoch; writes a new one if etl.canary is empty. */
export const currentEpoch = async (client: Client): Promise<string> => {
  const epoch = await readEpoch(client);
  if (epoch !== undefined) return epoch;
  return withTransaction(client, async () => {
    const [, , made] = await askTogether(client, () => [
      client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.epoch]),
      client.query('insert into etl.canary (epoch) values (gen_random_uuid()) on conflict do nothing'),
      readEpoch(client),
    ]);
    return made!;
  });
};

const epochChanged = (): EtlError => new EtlError('ETL_EPOCH_CHANGED');
const lockLost = (pipeline: string): EtlError => new EtlError('ETL_LOCK_LOST', { pipeline });

/** Reads what `judgeLoading` checks, and locks the run's row until the transaction ends. */
export const selectLoading = ({ runId }: Lease): Query => ({
  text: `select r.pipeline, r.generation, (select epoch from etl.canary) as epoch,
      ${holdsPipelineLock('r.pipeline', 'r.session')} as "isLocked"
    from etl.run r where r.id = $1 and r.state = 'loading' for share of r`,
  values: [runId],
});

export const mayLoad = ({ epoch, generation }: Lease, { rows: [run] }: QueryResult): boolean =>
  run !== undefined && run.epoch === epoch && run.generation === generation && run.isLocked;

/**
 * Throws if a chunk must not be loaded now: ETL_EPOCH_CHANGED after a crash; ETL_RUN_TAKEN or
 * ETL_RUN_CANCELLED if the run is no longer loading; ETL_RUN_SUPERSEDED if another coordinator has
 * re-split its files; ETL_LOCK_LOST if the coordinator lost the pipeline's lock.
 *
 * The chunk's transaction locks the run's row. So a process that takes over the run waits for
 * current chunks, and a loader that missed the takeover stops here. Proved by
 * test/integration/generation.test.ts.
 */
export const judgeLoading = async (
  client: Client,
  { runId, epoch, generation }: Lease,
  { rows: [run] }: QueryResult,
): Promise<void> => {
  if (run === undefined) throw await whyStopped(client, runId);
  if (run.epoch !== epoch) throw epochChanged();
  if (run.generation !== generation) throw new EtlError('ETL_RUN_SUPERSEDED', { run: runId });
  if (!run.isLocked) throw lockLost(run.pipeline);
};

/** Throws ETL_EPOCH_CHANGED after a crash, and ETL_LOCK_LOST without the pipeline's lock. */
export const assertPublishing = async (client: Client, pipeline: string, epoch: string): Promise<void> => {
  const { rows } = await client.query(
    `select (select epoch from etl.canary) as epoch, ${holdsPipelineLock('$1', 'pg_backend_pid()')} as "isLocked"`,
    [pipeline],
  );
  if (rows[0].epoch !== epoch) throw epochChanged();
  if (!rows[0].isLocked) throw lockLost(pipeline);
};
