// Checks names from users against the names in the history.

import { runQuery, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { tablesSuggestedMax } from '../../core/limits.ts';
import { nearest } from '../../core/nearest.ts';
import { firstOf } from '../../core/wording.ts';

export const selectPipelineNames: Query = {
  text: 'select pipeline as name from etl.run union select pipeline from etl.failure where pipeline is not null order by 1',
};

export const noPipeline = 'there is no run of a pipeline';

/**
 * Refuses a `name` that is not among `names`: a typo must not look like a pipeline without runs.
 * Errors: ETL_USAGE.
 */
export const refuseUnknown = async (
  client: Client,
  name: string | null,
  names: Query,
  problem: string,
): Promise<void> => {
  const { rows } = name === null ? { rows: [] } : await runQuery(client, names);
  const known: readonly string[] = rows.map((row) => row.name);
  if (name === null || known.length === 0 || known.includes(name)) return;
  const near = nearest(name, known);
  const hint =
    near === undefined
      ? `There are ${firstOf(known, tablesSuggestedMax).join(', ')}.`
      : `Did you mean ${near}?`;
  throw new EtlError('ETL_USAGE', { problem: `${problem} ${name}`, hint });
};
