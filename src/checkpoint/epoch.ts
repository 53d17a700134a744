// The crash epoch: a uuid in an unlogged table, which the server empties whenever it empties our staging tables.

import { advisoryKeys } from '../db/advisory-lock.ts';
import { withTransaction, type Client } from '../db/client.ts';

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
