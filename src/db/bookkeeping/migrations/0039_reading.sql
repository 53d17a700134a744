-- How a file is read: its place among the readings of its table, whose dialects are in etl.run.formats.
alter table etl.source_file
  add column reading integer not null default 0;
