// In which order rows go into a table that has a key: that of the key, unless they nearly have it already, or the rows that are there
// lie too far apart for it.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { haveSame, type TableIndex } from '../table/table-state.ts';

/** Enough to tell keys by chance from those that rise within each file. */
const sampledRows = 10_000;

/** Fewer rows find the index in memory, and are soon joined in any way. */
export const rowsMin = 50_000;

/** Share of rows whose key is not less than that of the row before. */
const orderedShare = 0.9;

/**
 * What to append to a `select` of a table's rows: `order by` its key where the keys come in an order by chance, as UUIDs do. Each row
 * would touch another page of the index, and the log would get a copy of it: 500,000 rows took half the time in order.
 */
export const inKeyOrder = async (
  client: Client,
  rowsFrom: string,
  rows: number,
  primaryKey: readonly string[],
): Promise<string> => {
  if (rows < rowsMin || primaryKey.length === 0) return '';
  const { rows: found } = await client.query(
    `select avg((key >= before)::int) < ${orderedShare} as "isByChance" from (
      select key, lag(key) over () as before from (
        select row(${quoteNames(primaryKey)}) as key from ${rowsFrom} limit ${sampledRows}
      ) s
    ) k`,
  );
  return found[0].isByChance === true
    ? `order by ${primaryKey.map((name) => quoteName(name)).join(', ')}`
    : '';
};

/** Pages of the run's rows whose keys are looked up. */
const sampledPages = 20;

/** Of the rows that are there, the outermost on either side may lie anywhere: so many miss the server's memory, and no more. */
const outerShare = 0.05;

/** The rest lies within this share of the server's buffers: the index and the log need some, too. */
const buffersShare = 0.5;

/** Quoted names: the rows of a run, and the table of one piece that has rows with some of their keys. */
interface Meeting {
  readonly rowsFrom: string;
  readonly rows: number;
  readonly there: string;
  readonly key: TableIndex;
}

/**
 * Whether rows that are there with keys of the run lie so close together that the server's buffers hold them all. The share of the sample
 * is a value of its own: the server takes an expression for a tenth of the table, and reads all of production instead of looking up keys.
 */
const isClose = async (client: Client, { rowsFrom, there, key }: Omit<Meeting, 'rows'>): Promise<boolean> => {
  const { rows: sizes } = await client.query(
    `select least(100, ${sampledPages} * 100.0 / greatest(relpages, 1))::float8 as percent,
        (select setting::float8 from pg_settings where name = 'shared_buffers') as buffers
      from pg_class where oid = $1::regclass`,
    [rowsFrom],
  );
  const { percent, buffers } = sizes[0];
  const { rows } = await client.query(
    `select max((place::text::point)[0]) - min((place::text::point)[0]) < ${buffersShare} * $2::float8 as "isClose"
      from (
        select unnest(percentile_disc(array[${outerShare}, ${1 - outerShare}]) within group (order by o.ctid)) as place
          from (select * from ${rowsFrom} tablesample system ($1)) n join ${there} o on ${haveSame(key, 'n', 'o')}
      ) outermost`,
    [percent, buffers],
  );
  return rows[0].isClose === true;
};

/**
 * What to append to a `select` of rows of which some take the place of those that are there: `order by` the key where the keys come in
 * an order by chance, unless the rows that are there would then be read from all over the table. A row that has no room in its page gets
 * a new entry in the index: 450,000 of those took two thirds of the time in order.
 */
export const inKeyOrderOver = async (client: Client, { rows, ...meeting }: Meeting): Promise<string> => {
  const order = await inKeyOrder(client, meeting.rowsFrom, rows, meeting.key.columns);
  return order !== '' && (await isClose(client, meeting)) ? order : '';
};
