-- How the lines of a file end, which its first line says; and the line on which a rejected record ends.
alter table etl.source_file add column line_end text not null default 'lf' check (line_end in ('lf', 'crlf', 'cr'));
alter table etl.reject add column last_line bigint;
