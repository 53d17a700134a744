-- What to do about the error of a run. It may have values that only the run knew.
alter table etl.run add column hint text;
