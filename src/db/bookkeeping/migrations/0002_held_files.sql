-- Files that the newest run of a pipeline held back, because they were not ready or could not be
-- loaded. Each run replaces the rows of its pipeline.
create table etl.held_file (
  pipeline text not null,
  -- table, file (its name), location, code and problem (the error); source and member, as in
  -- etl.source_file; version: of a file that was read, tells whether it is to be tried again.
  file     jsonb not null,
  -- When a run first held the file back for this error.
  held_at  timestamptz not null
);
