-- Which version of which file is in production of which table, written in the transaction that publishes it. It does not refer to
-- etl.run: a file whose run was deleted is still in production, and must not be loaded twice.
create table etl.published_file (
  pipeline     text not null,
  schema_name  text not null,
  table_name   text not null,
  -- SHA-256 of source, location and member, which are too long for an index.
  file_key     bytea not null,
  -- The version: the id that it had in etl.source_file, which is in the column _file of its rows, if the table has that.
  file_id      bigint not null,
  source       text not null,
  location     text not null,
  member       text,
  name         text not null,
  fingerprint  text not null,
  bytes        bigint not null,
  run_id       bigint not null,
  records      bigint not null,
  rows         bigint not null,
  -- Largest id of etl.correction that its run knew.
  corrections  bigint not null,
  -- Taken out on request: it is not loaded again before it changes.
  unloaded     boolean not null default false,
  published_at timestamptz not null default clock_timestamp(),
  primary key (pipeline, schema_name, table_name, file_key)
);
-- Until now every run has replaced everything: production has the files of the newest one.
insert into etl.published_file (pipeline, schema_name, table_name, file_key, file_id, source, location, member, name, fingerprint,
    bytes, run_id, records, rows, corrections, published_at)
  select u.pipeline, p.schema_name, f.table_name,
      sha256(convert_to(jsonb_build_array(f.source, f.location, f.member)::text, 'UTF8')), f.id, f.source, f.location, f.member,
      f.name, f.fingerprint, f.bytes, u.id, coalesce(c.records, 0), coalesce(c.copied, 0), u.corrections, p.published_at
    from (select distinct on (pipeline) * from etl.run where state = 'published' order by pipeline, id desc) u
      join etl.published_table p on p.run_id = u.id
      join etl.source_file f on f.run_id = u.id and f.table_name = p.table_name
      cross join lateral (
        select sum(records) as records, sum(copied) as copied from etl.chunk where file_id = f.id and epoch = u.epoch
      ) c
  on conflict do nothing;
-- A run that loads everything again goes on with that when it is continued.
alter table etl.run
  add column full_refresh boolean not null default false;
