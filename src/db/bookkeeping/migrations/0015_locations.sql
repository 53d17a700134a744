-- A file is known by its source, its location there, and its member in an archive. Bytes are counted in what it is decoded to,
-- whose end is known once somebody has seen it (null until then); `bytes` is the size of what is stored.
alter table etl.source_file rename column path to location;
alter table etl.source_file
  add column source text not null default 'file',
  add column member text,
  add column decoding text,
  add column data_end bigint;
update etl.source_file set data_end = bytes;
