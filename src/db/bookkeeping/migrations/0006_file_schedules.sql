-- Schedules that enqueue a run when files arrive; they have no times.
alter table etl.schedule alter column cron drop not null;
-- Seconds between two looks at the files, of which next_slot is the next; null: cron has the times.
alter table etl.schedule add column every double precision;
-- Hash of the ready files of the newest look that was judged.
alter table etl.schedule add column seen text;
-- Code with which the newest look failed.
alter table etl.schedule add column look_error text;
-- The look that is under way. Until next_slot no other one begins.
alter table etl.schedule add column looker text;
