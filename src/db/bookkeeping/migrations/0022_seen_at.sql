-- When the run that loaded a version began: before it looked at the file for the last time. A file that was changed long before is
-- known again by its size and time alone.
alter table etl.published_file
  add column seen_at timestamptz;
