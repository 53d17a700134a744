-- The run was published, and its hook after that has not ended yet: the next start of its pipeline calls it.
alter table etl.run
  add column hook_pending boolean not null default false;
