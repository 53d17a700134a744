// Drops the tables of the build schema, except new tables into which rows were loaded directly.

import { ensureSchema, withTransaction } from '../../db/client.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import { buildSchema } from '../../db/names.ts';
import { refuseStrangers } from '../../db/session/access.ts';
import type { Work } from '../context.ts';
import { directTables } from '../../db/landing.ts';

export const dropBuilt = async ({ client, spec }: Work): Promise<void> => {
  await awaitBuildsEnd(client, spec.name);
  const loaded = directTables(spec);
  if (loaded.length > 0) await clearBuildSchema(client, spec.name, loaded);
  // Waits without limit for readers of replaced tables, because their names must be free.
  else await tidyBuildSchema(client, spec.name, Infinity);
};

export const ensureBuildSchema = ({ client, spec }: Work): Promise<void> =>
  withTransaction(client, async () => {
    // Nobody can have created objects in a schema that this transaction creates, so only an
    // existing schema is checked.
    if (!(await ensureSchema(client, buildSchema(spec.name)))) await refuseStrangers(client, spec.name);
  });
