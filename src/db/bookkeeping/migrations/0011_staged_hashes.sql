-- Hash of what shapes the staged rows of each table with files: a table whose hash is the same keeps what is loaded of it.
alter table etl.run
  add column staged_hashes jsonb not null default '{}';
