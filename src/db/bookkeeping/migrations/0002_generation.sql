-- Tells the coordinators of one run apart: raised by each that takes the run over, compared in every chunk's transaction.
alter table etl.run
  add column generation integer not null default 1;
