-- Of a table of which only some partitions were replaced: their names, and rows of files that left with them.
alter table etl.published_table
  add column partitions text[];
alter table etl.published_file
  add column replaced bigint not null default 0;
