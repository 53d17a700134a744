// SQL for a run's totals: stored totals if it was published, otherwise sums of its chunks.
//
// Looks chunks up by key: statistics do not know a new run, so a plain join would compare every
// chunk with every file.

// float8 is exact up to 2^53, and node-postgres returns a number; a bigint would be a string.
const counted = `coalesce(sum(records), 0)::float8 as records, coalesce(sum(copied), 0)::float8 as copied,
    coalesce(sum(rejected), 0)::float8 as rejected, coalesce(sum(filtered), 0)::float8 as filtered`;

/** SQL: totals of a file f of a run r. */
export const totalsOfFile = `(
    select coalesce(sum(byte_end - byte_start), 0)::float8 as bytes_read, ${counted}
    from etl.chunk where file_id = f.id and epoch = r.epoch
  )`;

const columns =
  'table_name text, files float8, bytes float8, bytes_read float8, records float8, copied float8, rejected float8, filtered float8';

/** SQL: totals of each table with files of a run r, ordered by `place`. */
export const totalsOfTables = `(
    select k.* from rows from (jsonb_to_recordset(r.totals) as (${columns})) with ordinality as k (table_name, files, bytes, bytes_read, records, copied,
        rejected, filtered, place)
    union all
    select f.table_name, count(*)::float8, sum(f.bytes)::float8, sum(c.bytes_read), sum(c.records), sum(c.copied), sum(c.rejected),
      sum(c.filtered), min(f.id)
    from etl.source_file f cross join lateral ${totalsOfFile} c
    where f.run_id = r.id and r.totals is null
    group by f.table_name
  )`;

/** SQL: totals of a run r. */
export const totalsOfRun = `(
    select coalesce(sum(files), 0)::float8 as files, coalesce(sum(bytes), 0)::float8 as bytes, ${counted}
    from ${totalsOfTables} one
  )`;
