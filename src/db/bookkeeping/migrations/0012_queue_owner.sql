-- What this database has written into Redis beside its jobs, under each prefix: a copy of the database does not know what the
-- original wrote after the copy was made.
create table etl.queue_owner (
  prefix text not null,
  mark   text not null,
  at     timestamptz not null default clock_timestamp(),
  primary key (prefix, mark)
);
