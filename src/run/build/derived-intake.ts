// Decides whether a run builds all rows of a derived table, or only the rows that follow from the
// run's new rows.

import type { Extent, TableSpec } from '../../core/declaration.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { mentions } from '../../publish/table/table-order.ts';
import { isFilled } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import { isFullRefresh } from '../outset.ts';
import { latestRun } from '../../ledger/run/ledger.ts';
import { noneOutgoing, type Intake } from '../files/sieve.ts';
import type { BuildContext, Work } from '../context.ts';

export type Brought = Pick<Intake, 'extent' | 'outgoing'>;

const whole: Brought = { extent: 'whole', outgoing: noneOutgoing };

/** Warns that rows made by an earlier version of the SQL are kept. */
const announceIfChanged = async ({ client, spec, report }: Work, table: string): Promise<void> => {
  const { rows } = await client.query(
    `select count(distinct hash) > 1 as "isOther" from (
        select table_hashes ->> $2 as hash from etl.run where pipeline = $1 and id = (select max(id) from etl.run where pipeline = $1)
        union all
        select table_hashes ->> $2 from etl.run where pipeline = $1
          and id = (select max(id) from etl.run where pipeline = $1 and state = 'published')
      ) newest`,
    [spec.name, table],
  );
  if (!rows[0].isOther) return;
  const message = `${table}: its declaration has changed since it was published; unchanged rows keep their old values, and --full-refresh makes all rows again`;
  report.emit({ type: 'notice', message });
};

/**
 * Returns 'part' for a merged table if production has its other rows. Returns 'whole' if a table
 * that it reads was replaced as a whole and may have lost rows.
 */
export const derivedExtent = async (
  context: BuildContext,
  table: TableSpec,
  sql: string,
  prior: readonly BuiltTable[],
): Promise<Extent> => {
  const { client, spec } = context;
  if (!meaningOf(table.publish).takesParts || isFullRefresh(context, await latestRun(client, spec.name)))
    return 'whole';
  const read = prior.filter(
    ({ table: name }) => (table.kind === 'derived' && table.from.includes(name)) || mentions(sql, name),
  );
  if (read.some(({ mode, extent }) => extent === 'whole' && mode.takesParts)) return 'whole';
  return (await isFilled(client, quoteName(spec.schema, table.name))) ? 'part' : 'whole';
};

export const derivedIntake = async (
  context: BuildContext,
  table: TableSpec,
  sql: string,
  prior: readonly BuiltTable[],
): Promise<Brought> => {
  if ((await derivedExtent(context, table, sql, prior)) === 'whole') return whole;
  await announceIfChanged(context, table.name);
  return { extent: 'part', outgoing: noneOutgoing };
};
