-- The partitions that a divided table had with the commit: if it has others, people have dropped, detached or attached some since, and
-- `rows` does not say how many rows it has.
alter table etl.published_table
  add column partition_oids oid[];
