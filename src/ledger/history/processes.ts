// Running processes, recognized by the names of their sessions on the server.

import { rowsOf, type Client } from '../../db/client.ts';

export interface ProcessAtWork {
  /** Hex digits in the names of all sessions of the process. */
  readonly tag: string;
  readonly isWorker: boolean;
  readonly pipelines: readonly string[];
  readonly sessions: number;
  readonly active: number;
  readonly address: string | null;
  readonly since: Date;
}

/** Lists workers, then other processes. Omits sessions whose names are hidden from our role. */
export const listProcesses = (client: Client): Promise<ProcessAtWork[]> =>
  rowsOf<ProcessAtWork>(client, {
    text: `select tag, bool_or(is_worker) as "isWorker",
        coalesce(array_agg(distinct pipeline order by pipeline) filter (where pipeline is not null), '{}') as pipelines,
        count(*)::float8 as sessions, count(*) filter (where state = 'active')::float8 as active,
        min(host(client_addr)) as address, min(backend_start) as since
      from (
        select coalesce(substring(application_name from '^sluice worker ([0-9a-f]{8})$'),
            substring(application_name from '^sluice .+ ([0-9a-f]{8})[0-9a-f]{8}$')) as tag,
          application_name ~ '^sluice worker [0-9a-f]{8}$' as is_worker,
          substring(application_name from '^sluice (.+) [0-9a-f]{16}$') as pipeline, state, client_addr, backend_start
        from pg_stat_activity where datname = current_database() and application_name like 'sluice %'
      ) s
      where tag is not null
      group by tag order by 2 desc, since, tag`,
  });

/** Returns undefined if our role may not see the names of all sessions. */
export const isWorkerRunning = async (client: Client): Promise<boolean | undefined> => {
  const [seen] = await rowsOf<{ workers: boolean; hidden: boolean }>(client, {
    text: `select bool_or(application_name like 'sluice worker %') as workers,
        bool_or(query = '<insufficient privilege>') as hidden
      from pg_stat_activity where datname = current_database()`,
  });
  return seen!.workers || (seen!.hidden ? undefined : false);
};
