// What a run brings to a table that is made from others: all its rows, or those that follow from the rows of the run.

import type { Extent, TableSpec } from '../../core/declaration/declaration.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { mentions } from '../../publish/table/table-order.ts';
import { isFilled } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import { isFullRefresh } from '../begin/outset.ts';
import { noneOutgoing, type Intake } from '../files/sieve.ts';
import type { BuildContext } from '../context.ts';

export type Brought = Pick<Intake, 'extent' | 'outgoing'>;

const whole: Brought = { extent: 'whole', outgoing: noneOutgoing };

/** Reports that rows stay which the changed SQL would make differently. */
const announceIfChanged = async ({ client, spec, report }: BuildContext, table: string): Promise<void> => {
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
  const message = `${table}: declared otherwise than when it was published; rows that do not change stay as they were made, and --full-refresh makes all of them again`;
  report.emit({ type: 'notice', message });
};

/**
 * Returns how much of a derived table is made. A merged table gets some rows if it has the others, and everything that it reads has: where
 * a table that it reads is loaded as a whole, though some files would do, rows may have left it.
 */
export const derivedExtent = async (
  context: BuildContext,
  table: TableSpec,
  sql: string,
  prior: readonly BuiltTable[],
): Promise<Extent> => {
  const { client, spec } = context;
  if (!meaningOf(table.publish).takesParts || (await isFullRefresh(context))) return 'whole';
  const read = prior.filter(
    ({ table: name }) => (table.kind === 'derived' && table.from.includes(name)) || mentions(sql, name),
  );
  if (read.some(({ mode, extent }) => extent === 'whole' && mode.takesParts)) return 'whole';
  return (await isFilled(client, quoteName(spec.schema, table.name))) ? 'part' : 'whole';
};

/** The same, and reports what that leaves out. */
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
