// What a published run leaves to do: drops what it needs no longer, and makes statistics of divided tables as a whole.

import { lossOf } from '../../db/client.ts';
import { retryOf } from '../../db/retry.ts';
import { quoteName } from '../../db/sql.ts';
import { dropBuildSchema } from '../../publish/build-schema.ts';
import { analyzeDivided } from '../../publish/partitions/analyze.ts';
import { dropStaleStaging } from '../begin/make-landings.ts';
import type { RunContext } from '../context.ts';
import { sourceNames } from '../landing.ts';
import { dropOldVersions } from './old-versions.ts';

/** Makes the statistics of divided tables that have changed much; says which it could not finish. */
const analyzeTables = async ({ client, spec, report }: RunContext): Promise<void> => {
  const divided = spec.tables.filter(({ partitionBy }) => partitionBy !== undefined);
  const names = divided.map(({ name }) => quoteName(spec.schema, name));
  for (const name of await analyzeDivided(client, names)) {
    const message = `${name}: its statistics were not finished in time; the next run tries again, or \`analyze ${name}\``;
    report.emit({ type: 'notice', message });
  }
};

/** The run is already published: a failure here must not fail it. */
export const tidyUp = async (context: RunContext): Promise<void> => {
  const { address, client, spec, keepStaging, report } = context;
  try {
    await dropBuildSchema(client, spec.name);
    await dropStaleStaging(context, keepStaging ? sourceNames(spec) : []);
    await dropOldVersions(context);
    await analyzeTables(context);
  } catch (error) {
    // A lost server takes the recovery path, as anywhere else.
    if (retryOf(lossOf(client, address, error)) === 'server') throw error;
    report.logger.warn({ error }, 'what a published run leaves to do was not finished; the next run will');
  }
};
