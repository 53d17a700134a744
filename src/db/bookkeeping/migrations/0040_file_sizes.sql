-- Finds copies among very many files: those of one size, the newest first.
create index published_file_size on etl.published_file (table_name, bytes, file_id);
