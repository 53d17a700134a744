// Drops the tables of the build schema, except new tables into which rows were loaded directly.

import { askTogether } from '../../db/client.ts';
import { codeOf } from '../../core/errors/errors.ts';
import { quoteName } from '../../db/sql.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import { buildSchema } from '../../db/names.ts';
import { refuseStrangers } from '../../db/session/access.ts';
import type { Work } from '../context.ts';
import { directTables } from '../../db/landing.ts';

export const dropBuilt = async ({ client, spec }: Work): Promise<void> => {
  const loaded = directTables(spec);
  await askTogether(client, () => [
    awaitBuildsEnd(client, spec.name),
    loaded.length > 0
      ? clearBuildSchema(client, spec.name, loaded)
      : // Waits without limit for readers of replaced tables, because their names must be free.
        tidyBuildSchema(client, spec.name, Infinity),
  ]);
};

/**
 * Checks only a schema that others created: a new one of ours has no objects of strangers. A role
 * without `create` on the database uses the schema that is there.
 */
export const ensureBuildSchema = async ({ client, spec }: Work): Promise<void> => {
  await client.query(`create schema ${quoteName(buildSchema(spec.name))}`).catch(async (error: unknown) => {
    // 23505: another session creates it now.
    if (!['42P06', '23505', '42501'].includes(codeOf(error) ?? '')) throw error;
    const { schemas } = await refuseStrangers(client, spec.name);
    if (schemas[buildSchema(spec.name)] === undefined) throw error;
  });
};
