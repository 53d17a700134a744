-- What became of the records of a table whose rows are merged: inserted, updated, unchanged, deleted, superseded. Null elsewhere.
alter table etl.published_table
  add column changes jsonb;
