-- A file that is deleted takes its rejects along: without an index each looks through all of them.
create index reject_file on etl.reject (file_id);
