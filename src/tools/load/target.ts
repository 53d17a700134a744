// Finds the table that `--into` names, and reads its columns and key from the catalogue.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { ownSchemas } from '../../db/bookkeeping/trust.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { DistributionSpec } from '../../core/shape.ts';
import { asList, inQuotes } from '../../core/wording.ts';
import { declarationFor } from '../../publish/table/distribution.ts';

export interface TargetColumn {
  readonly name: string;
  /** As PostgreSQL writes it, with the schema of a type that is not PostgreSQL's own. */
  readonly type: string;
  /** Labels of an enum; empty for other types. */
  readonly labels: readonly string[];
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** True for a generated column: nobody can write it. */
  readonly isGenerated: boolean;
}

export interface Target {
  readonly schema: string;
  readonly table: string;
  /** undefined: the table does not exist. */
  readonly columns: readonly TargetColumn[] | undefined;
  readonly primaryKey: readonly string[];
  /** Columns of each unique index that could find a row, the primary key's first. */
  readonly keys: readonly (readonly string[])[];
  /** undefined: a local table, or a new one. */
  readonly distribute?: DistributionSpec | undefined;
}

const defaultSchema = 'public';

interface Part {
  readonly text: string;
  readonly isQuoted: boolean;
}

const part = String.raw`(?:"((?:[^"]|"")+)"|([^".]+))`;
const written = new RegExp(String.raw`^(?:${part}\.)?${part}$`, 's');

const partOf = (quoted: string | undefined, plain: string | undefined): Part | undefined => {
  if (quoted !== undefined) return { text: quoted.replaceAll('""', '"'), isQuoted: true };
  return plain === undefined ? undefined : { text: plain, isQuoted: false };
};

/** Reads `users`, `app.users` and `"App"."User"`. */
const namesOf = (into: string): { readonly schema: Part | undefined; readonly table: Part } => {
  const [, quotedSchema, schema, quotedTable, table] = written.exec(into) ?? [];
  const last = partOf(quotedTable, table);
  if (last !== undefined) return { schema: partOf(quotedSchema, schema), table: last };
  throw new EtlError('ETL_USAGE', {
    problem: `--into: ${inQuotes(into)} does not name a table`,
    hint: 'Write table or schema.table; a name that has a dot or a quote is quoted as in SQL: \'"my.table"\'.',
  });
};

/** A name without quotes means itself, or if no table is called so, its lower-case form, as in SQL. */
const meanings = ({ text, isQuoted }: Part): readonly string[] => [
  text,
  ...(isQuoted || text.toLowerCase() === text ? [] : [text.toLowerCase()]),
];

const selectTables = `
  select n.nspname as schema, c.relname as table,
    coalesce((select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
        'labels', array(select e.enumlabel from pg_enum e where e.enumtypid = a.atttypid order by e.enumsortorder),
        'isNullable', not (a.attnotnull or t.typnotnull), 'hasDefault', a.atthasdef or a.attidentity <> '',
        'isGenerated', a.attgenerated <> '') order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]') as columns,
    coalesce((select array_agg(a.attname::text order by u.place)
      from pg_index i cross join unnest(i.indkey) with ordinality as u (attnum, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attnum
      where i.indrelid = c.oid and i.indisprimary and u.place <= i.indnkeyatts), '{}') as "primaryKey",
    coalesce((select json_agg(array(select a.attname from unnest(i.indkey) with ordinality as u (attnum, place)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attnum
          where u.place <= i.indnkeyatts order by u.place) order by i.indisprimary desc, i.indexrelid)
      from pg_index i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indimmediate
        and i.indpred is null and i.indexprs is null), '[]') as keys
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = any ($1)
    and case when $2::text[] is null then n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and n.nspname <> all ($3) and not starts_with(n.nspname, 'etl_build') else n.nspname = any ($2) end`;

interface Found extends Target {
  readonly columns: readonly TargetColumn[];
}

/** Returns the tables whose names are the earliest of `names` that any table has. */
const nearestOf = (found: readonly Found[], names: readonly string[], nameOf: (one: Found) => string) => {
  const name = names.find((each) => found.some((one) => nameOf(one) === each));
  return found.filter((one) => nameOf(one) === name);
};

/** Returns the schema of a table that will be made. Errors: ETL_USAGE if it does not exist. */
const schemaOfNew = async (client: Client, names: readonly string[]): Promise<string> => {
  const { rows } = await client.query(
    'select nspname::text as name from pg_namespace where nspname = any ($1)',
    [names],
  );
  const found = names.find((name) => rows.some((row) => row.name === name));
  if (found !== undefined) return found;
  throw new EtlError('ETL_USAGE', {
    problem: `--into: there is no schema ${inQuotes(names[0]!)}`,
    hint: `Create it; or, if the dot is a part of the table's name, quote the name as in SQL: '"my.table"'.`,
  });
};

/**
 * Finds the table, in all schemas if none is named. Errors: ETL_USAGE for a text that names no
 * table, tables of several schemas none of which is `public`, and a schema that does not exist.
 */
export const findTarget = async (client: Client, into: string): Promise<Target> => {
  const { schema, table } = namesOf(into);
  const schemas = schema && meanings(schema);
  const { rows } = await client.query<Found>(selectTables, [meanings(table), schemas ?? null, ownSchemas]);
  const named = nearestOf(rows, meanings(table), (one) => one.table);
  const inSchemas = nearestOf(named, schemas ?? [defaultSchema], (one) => one.schema);
  const [only, ...others] = inSchemas.length > 0 ? inSchemas : named;
  if (only === undefined) {
    const name = await schemaOfNew(client, schemas ?? [defaultSchema]);
    return { schema: name, table: table.text, columns: undefined, primaryKey: [], keys: [] };
  }
  if (others.length === 0)
    return { ...only, distribute: await declarationFor(client, quoteName(only.schema, only.table)) };
  throw new EtlError('ETL_USAGE', {
    problem: `--into: tables of several schemas are called ${inQuotes(table.text)}: ${asList(named.map((one) => one.schema))}`,
    hint: `Name the schema: --into ${only.schema}.${only.table}.`,
  });
};
