// Decides whether rows are written in the order of their keys.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { haveSame, type TableIndex } from '../table/table-state.ts';

/** Enough rows to tell random keys from keys that rise within each file. */
const sampledRows = 10_000;

/** For fewer rows, the index stays in memory and any join is fast. */
export const rowsMin = 50_000;

/** Share of rows whose key is not less than the previous row's. */
const orderedShare = 0.9;

/**
 * Returns `order by` the key if keys come in random order, like UUIDs; otherwise ''. Each random
 * key touches another page of the index, which is copied into the write-ahead log. Sorting halved
 * the time for 500,000 rows.
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

const sampledPages = 20;

/** This share of the existing rows, at either end, may lie anywhere: they are read from disk. */
const outerShare = 0.05;

/** Existing rows may fill this share of shared_buffers; index and log need the rest. */
const buffersShare = 0.5;

/** Quoted names: `rowsFrom` has the run's rows, `there` the existing rows. */
interface Meeting {
  readonly rowsFrom: string;
  readonly rows: number;
  readonly there: string;
  readonly key: TableIndex;
}

/**
 * True if the existing rows with keys of the run fit into the server's buffers. The sample's
 * percentage is a parameter: for an expression, the server would expect a tenth of the table, and
 * read all of production.
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
 * Like inKeyOrder(), but '' if the existing rows would be read from all over the table: a row
 * version that does not fit into its page needs a new index entry.
 */
export const inKeyOrderOver = async (client: Client, { rows, ...meeting }: Meeting): Promise<string> => {
  const order = await inKeyOrder(client, meeting.rowsFrom, rows, meeting.key.columns);
  return order !== '' && (await isClose(client, meeting)) ? order : '';
};
