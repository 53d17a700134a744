-- Rows that readers had before the table was published: null when there was no table, or it was not recorded yet.
alter table etl.published_table
  add column rows_before bigint;
