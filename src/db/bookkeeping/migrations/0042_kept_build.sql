-- Tables that a run has built and could not publish, because of sessions with older snapshots: the next attempt publishes them. `basis` says
-- what they were made of.
alter table etl.run
  add column kept_build jsonb;
