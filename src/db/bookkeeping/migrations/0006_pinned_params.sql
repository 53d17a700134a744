-- What makes the parameters of a run again, in another process or later: `params` shows them, after their schemas.
alter table etl.run
  add column pinned_params jsonb not null default '{}';
update etl.run set pinned_params = coalesce(
  (select jsonb_object_agg(key, value) from jsonb_each(params) where value <> '"***"'), '{}');
-- The same of a schedule when it was set: its definition_hash is that of the pipeline with these.
alter table etl.schedule
  add column pinned_params jsonb not null default '{}';
update etl.schedule set pinned_params = params;
-- The queue that the newest run was asked for on: the schedule may have been set to another one since.
alter table etl.schedule
  add column job_queue text;
update etl.schedule set job_queue = queue where job is not null;
