// The read model of processes at work: whose sessions the server has, by the names that they give themselves.

import type { Client } from '../../db/client.ts';
import { rowsOf } from './history.ts';

/** One process with sessions on this database. */
export interface ProcessAtWork {
  /** Eight digits that its sessions have in common. */
  readonly tag: string;
  /** `etl worker` or createWorker: it takes runs from queues. */
  readonly isWorker: boolean;
  /** Pipelines whose runs it coordinates or helps, as far as names of sessions have room for theirs. */
  readonly pipelines: readonly string[];
  readonly sessions: number;
  /** Sessions with a statement or a COPY under way. */
  readonly active: number;
  /** null: over a Unix socket. */
  readonly address: string | null;
  readonly since: Date;
}

/** Workers first. A role that is neither ours nor watched by it hides the names of its sessions. */
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
