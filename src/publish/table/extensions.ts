// Finds production tables that belong to an extension, such as TimescaleDB or Citus. A swap would
// make them ordinary tables, so their rows are replaced in place. Tested with tables of the same
// names, not with the extensions (test/modes/publish-extensions.test.ts).

/** Only some servers have these catalogues. */
export interface Catalogues {
  readonly schemaPublications: boolean;
  readonly hypertables: boolean;
  readonly citusTables: boolean;
  readonly citusSchemas: boolean;
}

/**
 * SQL that tells which catalogues exist. Any role may create `_timescaledb_catalog.hypertable`, so
 * it counts only if a superuser owns it. Only superusers can create tables in pg_catalog.
 */
export const selectCatalogues = `
  to_regclass('pg_catalog.pg_publication_namespace') is not null as "schemaPublications",
  exists (select from pg_class h join pg_namespace s on s.oid = h.relnamespace join pg_roles r on r.oid = h.relowner
    where s.nspname = '_timescaledb_catalog' and h.relname = 'hypertable' and h.relkind = 'r' and r.rolsuper) as hypertables,
  to_regclass('pg_catalog.pg_dist_partition') is not null as "citusTables",
  to_regclass('pg_catalog.pg_dist_schema') is not null as "citusSchemas"`;

const selectHypertable = `
  select t.oid, 'TimescaleDB', 'hypertable' from target t
    join _timescaledb_catalog.hypertable h on h.schema_name = t.schema and h.table_name = t.name`;

/**
 * SQL for Citus tables, except in a distributed schema: a new table stays local there (docs/operations/citus.md).
 */
const selectCitusTable = (citusSchemas: boolean): string => `
  select t.oid, 'Citus', 'table' from target t join pg_catalog.pg_dist_partition d on d.logicalrelid::oid = t.oid
    ${citusSchemas ? 'where t.namespace not in (select schemaid from pg_catalog.pg_dist_schema)' : ''}`;

export const selectClaims = ({ hypertables, citusTables, citusSchemas }: Catalogues): string =>
  [
    `select t.oid, 'extension', e.extname::text
      from (select oid, oid as part from target
          union all select t.oid, i.indexrelid from target t join pg_index i on i.indrelid = t.oid) t
        join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = t.part
        join pg_extension e on e.oid = d.refobjid
      where d.refclassid = 'pg_extension'::regclass`,
    `select t.oid, 'access method', a.amname::text
      from target t join pg_am a on a.oid = t.relam
      where a.amname <> current_setting('default_table_access_method')`,
    `select t.oid, 'security label', provider
      from target t join pg_seclabel on classoid = 'pg_class'::regclass and objoid = t.oid`,
    `select t.oid, 'partitioning', pg_get_partkeydef(t.oid) from target t where t.relkind = 'p'`,
    ...(hypertables ? [selectHypertable] : []),
    ...(citusTables ? [selectCitusTable(citusSchemas)] : []),
  ].join(' union all ');

/** Returns true if an extension may store rows in other tables, which `only` would exclude. */
export const keepsRowsElsewhere = ({
  dependents,
  distribution,
}: {
  readonly dependents: readonly { readonly kind: string }[];
  readonly distribution: object | null;
}): boolean => distribution !== null || dependents.some(({ kind }) => kind === 'TimescaleDB');
