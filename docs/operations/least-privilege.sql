-- Roles with which pipelines run and are looked at, and which can do nothing else.
--
-- Run once, by a superuser or, since PostgreSQL 15, the database's owner with createrole, connected to the database.
-- Change the names:
--   weather       the database
--   noaa          the production schema; repeat its lines for each
--   etl_loader    who runs pipelines; its password is set apart, with \password etl_loader
--   etl_reader    who looks at runs and reads the tables

begin;

create role etl_loader login nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
create role etl_reader login nosuperuser nocreatedb nocreaterole noreplication nobypassrls;

-- Whoever is no superuser must be a member of a role to give it a schema; taken back at the end.
grant etl_loader to current_user;

-- Everybody may connect to a new database and make temporary tables in it; now only they, and who else is granted it.
revoke all on database weather from public;
grant connect on database weather to etl_loader, etl_reader;
-- create: the schemas etl, etl_kept, etl_queue, etl_staging and etl_build_<pipeline>. temporary: tables of the queue's functions.
grant create, temporary on database weather to etl_loader;

-- Until PostgreSQL 14 everybody may make tables in public. Nothing of a pipeline is there.
revoke create on schema public from public;

-- The loader owns its production schema, and so whatever runs make there.
create schema noaa authorization etl_loader;
grant usage on schema noaa to etl_reader;
alter default privileges for role etl_loader in schema noaa grant select on tables to etl_reader;

-- Bookkeeping, which the first run makes: the reader sees it from the beginning.
create schema etl authorization etl_loader;
grant usage on schema etl to etl_reader;
alter default privileges for role etl_loader in schema etl grant select on tables to etl_reader;

revoke etl_loader from current_user;

commit;
