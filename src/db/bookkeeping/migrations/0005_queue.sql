-- Queues of runs by name: a worker serves those that it is told to.
create table etl.queue (
  name text primary key
);
insert into etl.queue values ('default');
-- The queue that a run came from; runs of nobody's queue are helped by the workers of the default one.
alter table etl.run
  add column queue text not null default 'default';
alter table etl.schedule
  add column queue text not null default 'default';
