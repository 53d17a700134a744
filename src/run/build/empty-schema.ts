// Drops the tables of the build schema, except new tables into which rows were loaded directly.

import type { Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { codeOf } from '../../core/errors/errors.ts';
import { quoteName } from '../../db/sql.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { clearBuildSchema, dropFew, tidyBuildSchema } from '../../publish/aside/build-schema.ts';
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

/** Returns an error if the schema exists, or may not be created. */
const tryCreate = (client: Client, pipeline: string): Promise<Error | undefined> =>
  client.query(`create schema ${quoteName(buildSchema(pipeline))}`).then(
    () => undefined,
    (error: Error) => {
      // 23505: another session creates it now.
      if (!['42P06', '23505', '42501'].includes(codeOf(error) ?? '')) throw error;
      return error;
    },
  );

/**
 * Checks only a schema that others created: a new one of ours has no objects of strangers. A role
 * without `create` on the database uses the schema that is there.
 */
const ensureBuildSchema = async ({ client, spec }: Work): Promise<void> => {
  const error = await tryCreate(client, spec.name);
  if (error === undefined) return;
  const { schemas } = await refuseStrangers(client, spec.name);
  if (schemas[buildSchema(spec.name)] === undefined) throw error;
};

/**
 * Drops the tables of the build schema and creates it again. Waits without limit for readers of
 * replaced tables, because their names must be free. Errors: ETL_UNTRUSTED.
 */
export const renewBuildSchema = async (context: Work): Promise<void> => {
  const { client, spec } = context;
  const [, , error] = await askTogether(client, () => [
    awaitBuildsEnd(client, spec.name),
    dropFew(client, spec.name),
    tryCreate(client, spec.name),
  ]);
  if (error === undefined) return;
  await tidyBuildSchema(client, spec.name, Infinity);
  await ensureBuildSchema(context);
};
