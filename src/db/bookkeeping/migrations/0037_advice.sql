-- Where the time of a run went and what would change that, in sentences. Null: it was short, was not published, or is of an earlier version.
alter table etl.run
  add column advice text[];
