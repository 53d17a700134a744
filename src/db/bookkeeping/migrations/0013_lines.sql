-- How the lines of a file end, which its first line says (lf, crlf, cr); and the line on which a rejected record ends.
alter table etl.source_file
  add column line_end text not null default 'lf';
alter table etl.reject
  add column last_line bigint;
