-- A record with several faults is one reject: its first fault stands in the columns, the others are listed here.
alter table etl.reject
  add column fault_count integer not null default 1,
  add column more_faults jsonb not null default '[]';
