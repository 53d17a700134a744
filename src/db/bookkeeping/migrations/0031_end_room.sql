-- Room for the end of a run on a full disk: its row is as long from the beginning as with its error, so that nothing of it has to
-- move elsewhere, and its page has room for another version of it.
alter table etl.run
  add column end_room text;
alter table etl.run
  alter column end_room set storage plain,
  alter column end_room set default repeat('.', 700),
  set (fillfactor = 50);
