-- How the files of each table are written, and the fields of its columns: rejected records are taken apart again without the pipeline.
alter table etl.run
  add column formats jsonb not null default '{}';
