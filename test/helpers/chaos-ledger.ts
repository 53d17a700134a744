// What bookkeeping must say when a chaos test is over, in plain SQL: each query gives the rows that break a rule.

/** Rules of the ledger by name. Of runs that were published; chunks of an epoch that ended do not count. */
export const ledgerRules: Readonly<Record<string, string>> = {
  'records = copied + rejected + filtered': `
    select * from etl.chunk where records <> copied + rejected + filtered`,
  'the chunks of a file follow each other from its first byte of data to its end': `
    select * from (
      select f.id, f.bytes, c.byte_start, c.byte_end,
          lag(c.byte_end, 1, f.data_byte) over (partition by f.id order by c.byte_start) as before,
          lead(c.byte_start, 1, f.bytes) over (partition by f.id order by c.byte_start) as after
        from etl.run r join etl.source_file f on f.run_id = r.id
        join etl.chunk c on c.file_id = f.id and c.epoch = r.epoch
        where r.state = 'published') as chunk
      where byte_start <> before or byte_end <> after`,
  'every file of a published run has chunks': `
    select f.* from etl.run r join etl.source_file f on f.run_id = r.id
      where r.state = 'published' and f.bytes > f.data_byte and not exists
        (select from etl.chunk c where c.file_id = f.id and c.epoch = r.epoch)`,
  'a published table has the rows that were copied': `
    select p.* from etl.published_table p join etl.run r on r.id = p.run_id
      where exists (select from etl.source_file f where f.run_id = r.id and f.table_name = p.table_name)
        and p.rows <> (select coalesce(sum(c.copied), 0) from etl.source_file f
          join etl.chunk c on c.file_id = f.id and c.epoch = r.epoch
          where f.run_id = r.id and f.table_name = p.table_name)`,
  'every reject that a chunk counts is kept': `
    select f.id, f.name, sum(c.rejected) from etl.run r join etl.source_file f on f.run_id = r.id
      join etl.chunk c on c.file_id = f.id and c.epoch = r.epoch
      where r.state = 'published' group by f.id, f.name
      having sum(c.rejected) <> (select count(*) from etl.reject j where j.file_id = f.id)`,
  'no run is unfinished': `
    select id, pipeline, state from etl.run where state not in ('published', 'failed', 'cancelled')`,
};

/** How the records of the newest published run of a pipeline divide, by table. */
export const divisionSql = `
  select f.table_name as name, sum(c.copied)::int as copied, sum(c.rejected)::int as rejected,
      sum(c.filtered)::int as filtered
    from etl.run r join etl.source_file f on f.run_id = r.id
    join etl.chunk c on c.file_id = f.id and c.epoch = r.epoch
    where r.id = (select max(id) from etl.run where pipeline = $1 and state = 'published')
    group by 1`;

/**
 * What only a run needs. A session without a statement holds no lock: its host was gone before it could say how soon that
 * is to be noticed, so the server's own keepalives end it.
 */
export const leftoversSql = `
  select 'staging ' || relname as what from pg_class where relnamespace = 'etl_staging'::regnamespace
  union all
  select 'schema ' || nspname from pg_namespace where nspname like 'etl\\_build%'
  union all
  select 'session ' || application_name || ': ' || query from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query <> ''
  union all
  select 'lock of ' || pid from pg_locks where locktype = 'advisory'`;
