// The crash epoch: a uuid in an unlogged table, which the server empties whenever it empties our staging tables.
//
// After crash recovery, promotion of a standby or a restore from a physical backup the canary is gone, and with it every
// row in staging; after a clean restart both are there. One look at one row tells, in constant time, also when the
// staging tables are empty. A chunk in the ledger counts only under the epoch of its run.

import { advisoryKeys } from '../db/advisory-keys.ts';
import { withTransaction, type Client } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import { whyStopped } from './run-end.ts';

const readEpoch = async (client: Client): Promise<string | undefined> =>
  (await client.query('select epoch from etl.canary')).rows[0]?.epoch;

/** The epoch of this moment; a new one is written when the canary is gone. */
export const currentEpoch = async (client: Client): Promise<string> => {
  const epoch = await readEpoch(client);
  if (epoch !== undefined) return epoch;
  return withTransaction(client, async () => {
    await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.epoch]);
    await client.query('insert into etl.canary (epoch) values (gen_random_uuid()) on conflict do nothing');
    return (await readEpoch(client))!;
  });
};

/** Throws ETL_EPOCH_CHANGED when the server has crashed since the epoch was read. Called inside transactions. */
export const assertEpoch = async (client: Client, epoch: string): Promise<void> => {
  if ((await readEpoch(client)) !== epoch) throw new EtlError('ETL_EPOCH_CHANGED');
};

/** For whom a loader loads: one coordinator of a run, under one epoch. */
export interface Loading {
  readonly runId: number;
  readonly epoch: string;
  readonly generation: number;
}

/**
 * Throws when a chunk of the run must not be loaded now: ETL_EPOCH_CHANGED after a crash, ETL_RUN_TAKEN or ETL_RUN_CANCELLED when the run
 * is no longer being loaded, ETL_RUN_SUPERSEDED when another coordinator has cut it into other pieces since. Called in the chunk's
 * transaction, and holds the run's row until its end: whoever takes the run over waits for the chunks in flight, and a
 * loader that missed it stops here. Proved by test/integration/generation.test.ts.
 */
export const assertLoading = async (client: Client, loading: Loading): Promise<void> => {
  const { runId, epoch, generation } = loading;
  await assertEpoch(client, epoch);
  const { rows } = await client.query(
    `select generation from etl.run where id = $1 and state = 'loading' for share`,
    [runId],
  );
  if (rows.length === 0) throw await whyStopped(client, runId);
  if (rows[0].generation !== generation) throw new EtlError('ETL_RUN_SUPERSEDED', { run: runId });
};
