// Makes the statistics of divided tables as a whole, once they are published.

import { quoteName } from '../../db/sql.ts';
import { analyzeDivided } from '../../publish/partitions/analyze.ts';
import type { RunContext } from '../context.ts';

/** Those of tables that have changed much; says which it could not finish. */
export const analyzeTables = async ({ client, spec, report }: RunContext): Promise<void> => {
  const divided = spec.tables.filter(({ partitionBy }) => partitionBy !== undefined);
  const names = divided.map(({ name }) => quoteName(spec.schema, name));
  for (const name of await analyzeDivided(client, names)) {
    const message = `${name}: its statistics were not finished in time; the next run tries again, or \`analyze ${name}\``;
    report.emit({ type: 'notice', message });
  }
};
