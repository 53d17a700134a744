-- When a run of the pipeline last found nothing to do. Such a run leaves no row in etl.run, but
-- earlier failures of the pipeline are over.
create table etl.up_to_date (
  pipeline   text primary key,
  checked_at timestamptz not null
);
create index failure_pipeline on etl.failure (pipeline, id);
