// Creates tables in a pipeline's build schema to load rows into, and drops the others.

import { setTimeout as sleep } from 'node:timers/promises';
import { runQuery, runTogether, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { inline, quoteName, quoteText, type Query } from '../../db/sql.ts';
import { codeOf } from '../../core/errors/errors.ts';
import { storageClause } from '../table/storage.ts';
import { buildSchema, builtName, type TableNames } from '../../db/names.ts';

export interface LandingColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

/** Not unlogged, because the table becomes the production table. */
export const createLanding = (names: TableNames, columns: readonly LandingColumn[]): Query => ({
  text: `create table ${builtName(names)} (
    ${columns.map(({ name, type, nullable }) => `${quoteName(name)} ${type}${nullable ? '' : ' not null'}`).join(',\n    ')}
  )${storageClause(names.attributes)}`,
});

/** SQL for the tables to drop, also their partitions in production's schema. Parents come last. */
const selectTables = (schema: string): Query => ({
  text: `select n.nspname as schema, c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_inherits i on i.inhrelid = c.oid and c.relispartition
      left join pg_class p on p.oid = i.inhparent
    where c.relkind in ('r', 'p') and to_regnamespace($1) in (c.relnamespace, p.relnamespace)
    order by c.relkind desc`,
  values: [quoteName(schema)],
});

interface Dropped {
  readonly schema: string;
  readonly name: string;
}

/**
 * SQL that drops constraints, indexes and server-filled columns, first foreign keys: they depend on
 * keys of other tables.
 */
const selectDrops = (schema: string, tables: readonly string[]): Query => ({
  text: `with made as materialized (select to_regclass(name) as oid from unnest($1::text[]) as name)
    select statement from (
      select case contype when 'f' then 1 else 2 end as step,
          format('alter table %s drop constraint %I', made.oid, conname) as statement
        from made join pg_constraint on conrelid = made.oid and contype in ('c', 'f', 'p', 'u', 'x')
      union all
      select 3, format('drop index %s', indexrelid::regclass) from made join pg_index on indrelid = oid
        where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
      union all
      select 4, format('alter table %s drop column %I', oid, attname) from made join pg_attribute on attrelid = oid
        where attnum > 0 and not attisdropped and (attgenerated <> '' or attidentity <> '')
    ) drops order by step`,
  values: [tables.map((table) => quoteName(schema, table))],
});

/** Tables dropped at once. Each takes several locks; a small server has some hundred. */
const tablesPerDrop = 25;

/**
 * PL/pgSQL that drops a schema; but only what the role made there, if it could not create the
 * schema again, which an administrator has created then.
 */
const droppingSchema = (pipeline: string): string => {
  const name = quoteName(buildSchema(pipeline));
  return `
      if has_database_privilege(current_database(), 'create')
        and coalesce((select pg_has_role(nspowner, 'usage') from pg_namespace where oid = to_regnamespace(${quoteText(name)})), true)
      then drop schema if exists ${name} cascade; return;
      end if;
      foreach made in array array(
        select format('drop %s if exists %s cascade', o.type, o.identity)
          from pg_depend d
            join pg_shdepend s on s.classid = d.classid and s.objid = d.objid and s.deptype = 'o'
              and s.dbid = (select oid from pg_database where datname = current_database())
            cross join pg_identify_object(d.classid, d.objid, 0) o
          where d.refclassid = 'pg_namespace'::regclass and d.refobjid = to_regnamespace(${quoteText(name)})
            and d.classid in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass) and pg_has_role(s.refobjid, 'usage')
      ) loop execute made;
      end loop;`;
};

const doing = (body: string): string => `do ${quoteText(`declare made text; begin ${body} end`)}`;

const dropSchema = (pipeline: string): string => doing(droppingSchema(pipeline));

const groupsIn = async (client: Client, pipeline: string): Promise<readonly (readonly string[])[]> => {
  const tables: readonly Dropped[] = (await runQuery(client, selectTables(buildSchema(pipeline)))).rows;
  const names = tables.map((one) => quoteName(one.schema, one.name));
  const groups = [];
  for (let first = 0; first < names.length; first += tablesPerDrop)
    groups.push(names.slice(first, first + tablesPerDrop));
  return groups;
};

/** How long readers may queue behind us, and how long we pause then to let them proceed. */
const queueMs = 50;
const pauseMs = 200;

/**
 * Drops the build schema, if it has few tables and nobody reads them.
 */
export const dropFew = async (client: Client, pipeline: string): Promise<void> => {
  const names = "string_agg(format('%I.%I', schema, name), ', ' order by place)";
  const body = `
      select case when count(*) <= ${tablesPerDrop} then ${names} else '' end
        from (select *, row_number() over () as place from (${inline(selectTables(buildSchema(pipeline)))}) as t) as t into made;
      if made = '' then return;
      end if;
      if made is not null then execute format('drop table %s cascade', made);
      end if;
      ${droppingSchema(pipeline)}`;
  await runTogether(client, [{ text: `set local lock_timeout = ${queueMs}` }, { text: doing(body) }]).catch(
    (error: unknown) => {
      if (codeOf(error) !== '55P03') throw error;
    },
  );
};

export const dropBuildSchema = async (client: Client, pipeline: string): Promise<void> => {
  for (const names of await groupsIn(client, pipeline))
    await client.query(`drop table ${names.join(', ')} cascade`);
  await client.query(dropSchema(pipeline));
};

const tryDrop = async (
  client: Client,
  names: readonly string[],
  deadline: number,
  afterwards = '',
): Promise<boolean> => {
  const drop = `drop table ${names.join(', ')} cascade;`;
  for (;;) {
    try {
      await client.query(`set local lock_timeout = ${queueMs}; ${drop} ${afterwards}`);
      return true;
    } catch (error) {
      if (codeOf(error) !== '55P03') throw error;
    }
    if (performance.now() > deadline) return false;
    await sleep(pauseMs);
  }
};

/**
 * Drops the build schema. Keeps and returns tables that are still read after `waitMs`. Proved by
 * test/modes/publish-locks.test.ts, "that somebody still reads".
 */
export const tidyBuildSchema = async (
  client: Client,
  pipeline: string,
  waitMs: number,
): Promise<readonly string[]> => {
  const deadline = performance.now() + waitMs;
  const left: string[] = [];
  const [, groups] = await askTogether(client, () => [dropFew(client, pipeline), groupsIn(client, pipeline)]);
  if (groups.length === 0) return [];
  for (const [place, names] of groups.entries()) {
    const isAll = left.length === 0 && place === groups.length - 1;
    if (await tryDrop(client, names, deadline, isAll ? dropSchema(pipeline) : '')) {
      if (isAll) return [];
    } else for (const name of names) if (!(await tryDrop(client, [name], 0))) left.push(name);
  }
  if (left.length === 0) await client.query(dropSchema(pipeline));
  return left;
};

export const clearBuildSchema = async (
  client: Client,
  pipeline: string,
  loaded: readonly string[],
): Promise<void> => {
  const schema = buildSchema(pipeline);
  const tables: readonly Dropped[] = (await runQuery(client, selectTables(schema))).rows;
  for (const one of tables)
    if (one.schema !== schema || !loaded.includes(one.name))
      await client.query(`drop table if exists ${quoteName(one.schema, one.name)} cascade`);
  const { rows } = await runQuery(client, selectDrops(schema, loaded));
  for (const { statement } of rows) await client.query(statement);
};
