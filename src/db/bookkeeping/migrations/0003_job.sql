-- The job of the run queue that a run is for: a second delivery of the job finds the run of the first.
alter table etl.run
  add column job text;
create index run_job on etl.run (job) where job is not null;
