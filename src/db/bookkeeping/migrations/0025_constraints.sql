-- Constraints that the run made: others were made by people. Null for runs before this was recorded.
alter table etl.published_table
  add column constraints text[];
