-- Folder of the pipeline file; null for a rollback, and for runs before this migration.
alter table etl.run add column directory text;
