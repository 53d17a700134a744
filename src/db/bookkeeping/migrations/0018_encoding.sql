-- A file has an encoding, and a member of an archive its place there, as the archive's format says it.
alter table etl.source_file
  add column encoding text not null default 'utf-8',
  add column part jsonb;
