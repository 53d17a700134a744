-- Files of one table may differ: texts that hold for a whole file, and what its header has otherwise than the table names.
alter table etl.source_file
  add column constants jsonb not null default '{}',
  add column differs jsonb;
