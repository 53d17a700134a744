-- Sums of a published run's files and chunks, an element for each table with files, in declared order. They do not change any more, and
-- adding them up again takes as long as the run has chunks. Null: not published, or by an earlier version.
alter table etl.run
  add column totals jsonb;
