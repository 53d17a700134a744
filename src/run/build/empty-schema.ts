// Empties the build schema of a pipeline, but keeps rows that were loaded into its new tables.

import { ensureSchema, withTransaction } from '../../db/client.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import { buildSchema } from '../../db/names.ts';
import { refuseStrangers } from '../../db/session/access.ts';
import type { Work } from '../context.ts';
import { directTables } from '../../db/landing.ts';

/** For a run that will not publish its built tables. */
export const dropBuilt = async ({ client, spec }: Work): Promise<void> => {
  await awaitBuildsEnd(client, spec.name);
  const loaded = directTables(spec);
  if (loaded.length > 0) await clearBuildSchema(client, spec.name, loaded);
  // Waits without limit for readers of replaced tables, because the names of these tables are
  // needed.
  else await tidyBuildSchema(client, spec.name, Infinity);
};

export const ensureBuildSchema = ({ client, spec }: Work): Promise<void> =>
  withTransaction(client, async () => {
    // A schema that is created here is not visible to others yet, so its owner needs no check.
    if (!(await ensureSchema(client, buildSchema(spec.name)))) await refuseStrangers(client, spec.name);
  });
