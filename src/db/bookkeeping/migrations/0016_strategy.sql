-- Publications name themselves (src/publish/registry.ts): another one needs no migration.
alter table etl.published_table drop constraint published_table_strategy_check;
