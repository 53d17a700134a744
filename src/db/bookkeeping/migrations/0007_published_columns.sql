-- What we made of a table's columns: what else it has is somebody's own. Null: published before this was recorded.
alter table etl.published_table
  add column columns text[],
  add column not_null text[],
  add column primary_key text[];
