// The identity of a database: it names our queues on a Redis that several databases share.

import type { Client } from '../client.ts';

/** The cluster's own number, which survives restarts, failover and renaming, and the database's number in it. */
export const databaseIdentity = async (client: Client): Promise<string> => {
  const { rows } = await client.query(
    `select system_identifier || '-' || oid as identity
      from pg_control_system(), pg_database
      where datname = current_database()`,
  );
  return rows[0].identity;
};
