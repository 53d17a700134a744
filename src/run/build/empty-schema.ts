// Empties the build schema of a pipeline. Rows that were loaded straight into its new tables are
// kept: the run continues with them.

import { ensureSchema, withTransaction } from '../../db/client.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import { buildSchema } from '../../db/names.ts';
import { refuseStrangers } from '../../db/session/access.ts';
import type { Work } from '../context.ts';
import { directTables } from '../../db/landing.ts';

/** Drops the tables that were built, for a run that will not publish them. */
export const dropBuilt = async ({ client, spec }: Work): Promise<void> => {
  await awaitBuildsEnd(client, spec.name);
  const loaded = directTables(spec);
  if (loaded.length > 0) await clearBuildSchema(client, spec.name, loaded);
  // Waits without limit for readers of tables that the last publication replaced: their names are
  // needed.
  else await tidyBuildSchema(client, spec.name, Infinity);
};

/** Creates the build schema if it is missing, otherwise checks its owner. Errors: ETL_UNTRUSTED. */
export const ensureBuildSchema = ({ client, spec }: Work): Promise<void> =>
  withTransaction(client, async () => {
    // A schema that is created here is not visible to others yet, so only an existing one is
    // checked.
    if (!(await ensureSchema(client, buildSchema(spec.name)))) await refuseStrangers(client, spec.name);
  });
