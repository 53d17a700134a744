// Decides whether rows are sorted by key before they are written.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { haveSame, type TableIndex } from '../table/table-state.ts';

/** Rows to sample: enough to tell random keys from keys that rise within each file. */
const sampledRows = 10_000;

/** Fewest rows worth sorting. With fewer, the index stays in memory and any join is fast. */
export const rowsMin = 50_000;

/** Rows count as sorted if this share of keys is not less than the key before. */
const orderedShare = 0.9;

/**
 * Returns `order by` the key if keys are random, like UUIDs; otherwise ''. Each random key touches
 * another page of the index, which is logged. Sorting halved the time for 500,000 rows.
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

/** This share of the existing rows, at either end, is ignored: they may be read from disk. */
const outerShare = 0.05;

/** Existing rows may fill this share of shared_buffers. Index and log need the rest. */
const buffersShare = 0.5;

/** Rows to write and existing rows with the same keys. `rowsFrom` and `there` are quoted names. */
interface Meeting {
  readonly rowsFrom: string;
  readonly rows: number;
  readonly there: string;
  readonly key: TableIndex;
}

/**
 * True if the existing rows with keys of the run fit into the server's buffers. The sample's
 * percentage is a parameter: for an expression, the server would expect a tenth of the table and
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
 * Like inKeyOrder(), but returns '' if the existing rows are scattered over the table: an update
 * that does not fit into the row's page needs a new index entry.
 */
export const inKeyOrderOver = async (client: Client, { rows, ...meeting }: Meeting): Promise<string> => {
  const order = await inKeyOrder(client, meeting.rowsFrom, rows, meeting.key.columns);
  return order !== '' && (await isClose(client, meeting)) ? order : '';
};
