// Detects that somebody altered, dropped, renamed or moved a table during a run, because the
// server's error would be misleading.

import type { Client } from '../db/client.ts';
import { isRefusal } from '../db/connect/server-error.ts';
import { EtlError } from '../core/errors/errors.ts';
import { productionName, type TableNames } from '../db/names.ts';

type Name = Pick<TableNames, 'schema' | 'table'>;

const isRefused = (error: unknown): boolean =>
  isRefusal(error) || isRefusal((error as Partial<Error> | undefined)?.cause);

/** Errors: ETL_PUBLISH_OVERTAKEN. */
export const refuseGone = ({ table }: Name): never => {
  const problem = 'it was dropped, renamed or moved to another schema';
  throw new EtlError('ETL_PUBLISH_OVERTAKEN', { table, problem });
};

/**
 * Fails if the server refused something and one of these tables is gone. Errors:
 * ETL_PUBLISH_OVERTAKEN.
 */
export const refuseIfGone = async (
  client: Client,
  tables: readonly Name[],
  error: unknown,
): Promise<void> => {
  if (!isRefused(error)) return;
  const names = tables.map((table) => productionName(table));
  const { rows } = await client.query<{ place: number }>(
    'select place::int from unnest($1::text[]) with ordinality as n (name, place) where to_regclass(name) is null order by 1 limit 1',
    [names],
  );
  for (const { place } of rows) refuseGone(tables[place - 1]!);
};

const shapesOf = async (client: Client, tables: readonly Name[]): Promise<string> =>
  JSON.stringify(
    (
      await client.query(
        `select c.oid, array(select row(attname, atttypid)::text from pg_attribute where attrelid = c.oid and attnum > 0 order by attnum) as columns,
            array(select inhrelid from pg_inherits where inhparent = c.oid order by 1) as partitions
          from unnest($1::text[]) with ordinality as n (name, place) left join pg_class c on c.oid = to_regclass(n.name) order by place`,
        [tables.map((table) => productionName(table))],
      )
    ).rows,
  );

/**
 * Returns a function that tells if an error is a refusal and a table has changed since this call.
 */
export const watchShapes = async (
  client: Client,
  tables: readonly Name[],
): Promise<(error: unknown) => Promise<boolean>> => {
  const before = await shapesOf(client, tables);
  return async (error) => isRefused(error) && (await shapesOf(client, tables)) !== before;
};
