// Empties the build schema of a pipeline. Rows that were loaded straight into its new tables stay: the run continues with them.

import { ensureSchema, withTransaction } from '../../db/client.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import { buildSchema } from '../../db/names.ts';
import { refuseStrangers } from '../../db/session/access.ts';
import type { RunContext } from '../context.ts';
import { directTables } from '../../db/landing.ts';

type Building = Pick<RunContext, 'client' | 'spec'>;

/** Drops what was built, of a run that will not publish it. */
export const dropBuilt = async ({ client, spec }: Building): Promise<void> => {
  await awaitBuildsEnd(client, spec.name);
  const loaded = directTables(spec);
  if (loaded.length > 0) await clearBuildSchema(client, spec.name, loaded);
  // What somebody still reads since the last publication has a name that is needed.
  else await tidyBuildSchema(client, spec.name, Infinity);
};

/** Makes sure that there is a build schema, and that it is ours. Errors: ETL_UNTRUSTED. */
export const ensureBuildSchema = ({ client, spec }: Building): Promise<void> =>
  withTransaction(client, async () => {
    // If it was created here, nobody else sees it yet.
    if (!(await ensureSchema(client, buildSchema(spec.name)))) await refuseStrangers(client, spec.name);
  });
