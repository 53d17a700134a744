-- What makes the parameters of a run again, in another process or later: `params` shows them, after their schemas.
alter table etl.run
  add column pinned_params jsonb not null default '{}';
update etl.run set pinned_params = coalesce(
  (select jsonb_object_agg(key, value) from jsonb_each(params) where value <> '"***"'), '{}');
-- The same of a schedule when it was set: its definition_hash is that of the pipeline with these.
alter table etl.schedule
  add column pinned_params jsonb not null default '{}';
update etl.schedule set pinned_params = params;
