-- Thousands of schedules: workers ask for one that is due, or whose run is pending.
create index schedule_due on etl.schedule (next_slot) where not paused and every is null;
create index schedule_pending on etl.schedule (name) where job_state = 'pending';
