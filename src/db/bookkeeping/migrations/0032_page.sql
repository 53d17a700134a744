-- Who loaded a chunk, and whether a crash took an earlier load of it: the page shows both.
alter table etl.chunk
  add column session integer,
  -- When the load that a crash took was committed.
  add column lost_at timestamptz;
alter table etl.chunk alter column session set default pg_backend_pid();

-- Runs in the order in which they are listed, and the newest of each pipeline.
create index run_newest on etl.run (finished_at desc nulls first, id desc);
