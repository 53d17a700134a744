-- Earlier versions of published tables, in the schema etl_kept: one row a table there.
create table etl.kept_table (
  id          bigint generated always as identity primary key,
  pipeline    text not null,
  schema_name text not null,
  table_name  text not null,
  -- The run that loaded these rows; 0: no run did.
  run_id      bigint not null,
  -- The run that replaced them.
  replaced_by bigint not null,
  kept_name   text not null,
  table_oid   oid not null,
  rows        bigint,
  -- Names that its indexes had in production, in the order of their names in etl_kept; null: its rows are a copy, without indexes.
  indexes     text[],
  kept_at     timestamptz not null default clock_timestamp(),
  unique (kept_name)
);
create index kept_table_pipeline on etl.kept_table (pipeline, id);
-- A run that put earlier versions back, and that of the run it went back to; 0: no run loaded that version.
alter table etl.run
  add column rolled_back_to bigint;
-- The run that loaded the rows, if a later run put them back.
alter table etl.published_table
  add column version bigint;
