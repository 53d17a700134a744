-- The server process whose session holds the pipeline's lock for this run: every chunk's transaction asks whether it still does.
alter table etl.run
  add column session integer;
