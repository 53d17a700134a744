// Reads columns, indexes, constraints and sequences of tables from the server's catalogue.

import { askPrepared, type Client } from '../../db/client.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import type { TableNames } from '../../db/names.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  /** True for a default, an identity column or a generated column. */
  readonly hasDefault: boolean;
  /** Generation expression, or `numbered` for an identity column; null for an ordinary column. */
  readonly filledBy: string | null;
}

export interface TableIndex {
  readonly name: string;
  /**
   * Text as if the index were on the production table, so that old and new tables can be compared.
   */
  readonly ddl: string;
  readonly columns: readonly string[];
  /** Equality operator of each column, with its schema: `operator(public.=)` for citext. */
  readonly equals: readonly string[];
  readonly hasExpressions: boolean;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  /** False while `create index concurrently` runs, and after it failed. */
  readonly isValid: boolean;
  /** False for a deferrable constraint, which the server checks at the commit. */
  readonly isImmediate: boolean;
  readonly isReplicaIdentity: boolean;
  readonly isClustered: boolean;
  readonly constraint: string | null;
}

export interface TableConstraint {
  readonly name: string;
  /** pg_constraint.contype: c check, u unique, f foreign key. */
  readonly kind: string;
  /** The server's text with schema-qualified names. Equal texts mean equal constraints. */
  readonly definition: string;
  /** What follows `add constraint <name>`. */
  readonly clause: string;
  readonly isValid: boolean;
  /** Referenced table of a foreign key: oid and quoted name. */
  readonly on: number | null;
  readonly target: string | null;
  /** If true, the server also adds one constraint per partition of the referenced table. */
  readonly isTargetPartitioned: boolean;
  /** For messages: "sale.sale_store_fkey". */
  readonly shown: string;
  readonly comment: string | null;
}

/** True if an index lets only one row have the same values in these columns. */
export const isUniqueBy = ({ indexes }: Pick<TableState, 'indexes'>, columns: readonly string[]): boolean =>
  indexes.some(
    (index) =>
      index.isUnique &&
      index.isValid &&
      index.isImmediate &&
      !index.hasExpressions &&
      // An index with a condition is no constraint.
      (index.constraint !== null || !index.ddl.includes(' WHERE ')) &&
      index.columns.toSorted().join('\0') === columns.toSorted().join('\0'),
  );

/** SQL: true if rows `a` and `b` have equal keys, compared by the operators of the index. */
export const haveSame = (
  { columns, equals }: Pick<TableIndex, 'columns' | 'equals'>,
  a: string,
  b: string,
): string =>
  columns
    .map((column, at) => `${a}.${quoteName(column)} ${equals[at]!} ${b}.${quoteName(column)}`)
    .join(' and ');

export interface TableSequence {
  readonly column: string;
  readonly name: string;
  readonly text: string;
}

/** A sequence of a serial or identity column. */
export interface OwnedSequence {
  readonly column: string;
  /** Quoted, with its schema. */
  readonly name: string;
  /** False: the role lacks privileges: `select` and `update` on it, or `select` on the column. */
  readonly maySet: boolean;
  readonly max: string;
}

export interface TableState {
  readonly columns: readonly TableColumn[];
  readonly indexes: readonly TableIndex[];
  readonly constraints: readonly TableConstraint[];
  readonly sequences: readonly TableSequence[];
}

export interface BuiltState extends TableState {
  readonly oid: number;
}

const quoteTexts = (texts: readonly string[]): string => `array[${texts.map(quoteText).join(', ')}]::text[]`;

/** Returns SQL with literals instead of parameters, because a `do` block takes none (move.ts). */
export const wantedTables = (tables: readonly TableNames[]): string =>
  `unnest(${quoteTexts(tables.map(({ schema }) => schema))}, ${quoteTexts(tables.map(({ table }) => table))})
    with ordinality as w (schema, name, place)`;

export const numbered = 'identity';

/** Returns the columns that an insert must supply. The server fills the others. */
export const writtenColumns = (columns: readonly TableColumn[]): readonly TableColumn[] =>
  columns.filter(({ filledBy }) => filledBy === null);

export const columnList = (oid: string): string => `
  coalesce((select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'notNull', attnotnull,
        'hasDefault', atthasdef or attidentity <> '',
        'filledBy', case when attidentity <> '' then '${numbered}' when attgenerated <> '' then pg_get_expr(adbin, adrelid) end)
      order by attnum)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum where attrelid = ${oid} and attnum > 0 and not attisdropped), '[]')`;

/**
 * SQL for an operator of the B-tree operator class `c` that meets `condition`. Strategy 1 is less,
 * 3 equal. PostgreSQL, "Operator Classes and Operator Families".
 */
export const btreeOperator = (strategy: 1 | 3, condition: string): string => `
    (select format('operator(%I.%s)', n.nspname, o.oprname)
      from pg_opclass c
      join pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
      join pg_amop a on a.amopfamily = c.opcfamily and a.amopstrategy = ${strategy}
        and a.amoplefttype = c.opcintype and a.amoprighttype = c.opcintype
      join pg_operator o on o.oid = a.amopopr
      join pg_namespace n on n.oid = o.oprnamespace
      where ${condition})`;

/**
 * Indexes as JSON, written as if on the table `production`. The server writes ON ONLY for a
 * partitioned table; without ONLY, partitions get the index, too.
 */
export const indexList = (oid: string, production: string): string => `
  coalesce((select json_agg(json_build_object('name', x.relname, 'isPrimary', i.indisprimary, 'isUnique', i.indisunique,
      'isValid', i.indisvalid, 'isImmediate', i.indimmediate, 'isReplicaIdentity', i.indisreplident,
      'isClustered', i.indisclustered, 'hasExpressions', i.indexprs is not null, 'constraint', k.conname,
      'columns', array(select a.attname::text from unnest(i.indkey) with ordinality as u (attnum, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attnum
        where u.place <= i.indnkeyatts order by u.place),
      'equals', array(select coalesce(${btreeOperator(3, 'c.oid = u.opclass')}, 'operator(pg_catalog.=)') from unnest(i.indclass) with ordinality as u (opclass, place)
        order by u.place),
      'ddl', replace(replace(pg_get_indexdef(x.oid), format(' ON ONLY %I.%I USING ', n.nspname, t.relname), made.on_production),
        format(' ON %I.%I USING ', n.nspname, t.relname), made.on_production)) order by x.relname)
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
    join pg_namespace n on n.oid = t.relnamespace
    cross join (select ' ON ' || ${production} || ' USING ') as made (on_production)
    left join pg_constraint k
      on k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u', 'x')
    where i.indrelid = ${oid}), '[]')`;

const keyColumns = (table: string, numbers: string): string => `
  (select string_agg(a.attname, ',' order by u.place) from unnest(${numbers}) with ordinality as u (attnum, place)
    join pg_attribute a on a.attrelid = ${table} and a.attnum = u.attnum)`;

/** SQL that describes a foreign key, with the same text as foreignKeyText() for a declared key. */
const foreignKeyDescription = `
  concat_ws(' ', ${keyColumns('k.conrelid', 'k.conkey')}, r.nspname || '.' || f.relname, ${keyColumns('k.confrelid', 'k.confkey')},
    k.confdeltype, k.confupdtype, k.confmatchtype, k.condeferrable, k.condeferred)`;

/**
 * SQL for a constraint's clause. `pg_get_constraintdef` leaves out storage parameters and
 * tablespace of the index, which must precede `deferrable`.
 */
const clauseWith = (tablespace: string): string => `
  (select left(t.whole, length(t.whole) - length(t.ending))
      || coalesce(' with (' || array_to_string(x.reloptions, ', ') || ')', '') || ${tablespace} || t.ending
    from (select pg_get_constraintdef(k.oid) as whole, case when k.contype not in ('p', 'u') or not k.condeferrable then ''
        when k.condeferred then ' DEFERRABLE INITIALLY DEFERRED' else ' DEFERRABLE' end as ending) t
      left join pg_class x on k.contype in ('p', 'u') and x.oid = k.conindid left join pg_tablespace s on s.oid = x.reltablespace)`;

const constraintClause = clauseWith(`coalesce(' using index tablespace ' || quote_ident(s.spcname), '')`);

/** Leaves out the tablespace, which is declared or copied separately. */
export const placelessClause = clauseWith(`''`);

/** Returns for each table its primary key, if it has exactly these columns. */
export const primaryKeysOf = async (
  client: Client,
  tables: readonly string[],
  columns: readonly string[],
): Promise<readonly ({ readonly name: string; readonly clause: string } | undefined)[]> => {
  const { rows } = await askPrepared<{ place: number; name: string; clause: string }>(
    client,
    `select w.place::int, k.conname as name, ${placelessClause} as clause
      from unnest($1::text[]) with ordinality as w (name, place) join pg_constraint k on k.conrelid = to_regclass(w.name)
      where k.contype = 'p' and $2::text[] = array(select a.attname::text
        from unnest(k.conkey) with ordinality as u (attnum, place) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum
        order by u.place)`,
    [tables, columns],
  );
  return tables.map((_, index) => rows.find(({ place }) => place === index + 1));
};

export const constraintList = (oid: string): string => `
  coalesce((select json_agg(json_build_object('name', k.conname, 'kind', k.contype, 'isValid', k.convalidated, 'on', f.oid::bigint,
        'isTargetPartitioned', coalesce(f.relkind = 'p', false),
        'target', quote_ident(r.nspname) || '.' || quote_ident(f.relname), 'shown', k.conrelid::regclass || '.' || k.conname,
        'comment', (select description from pg_description where objoid = k.oid and classoid = 'pg_constraint'::regclass),
        'definition', case k.contype when 'f' then ${foreignKeyDescription} else pg_get_constraintdef(k.oid) end,
        'clause', ${constraintClause})
      order by k.conname)
    from pg_constraint k left join pg_class f on f.oid = k.confrelid left join pg_namespace r on r.oid = f.relnamespace
    where k.conrelid = ${oid} and k.contype in ('c', 'u', 'f') and k.conparentid = 0), '[]')`;

export const sequenceList = (oid: string): string => `
  coalesce((select json_agg(json_build_object('column', a.attname, 'name', q.relname, 'text', q.oid::regclass::text) order by a.attnum)
    from pg_depend d join pg_class q on q.oid = d.objid and q.relkind = 'S'
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = ${oid} and d.deptype = 'i'), '[]')`;

/** SQL: the ascending sequences that columns of the table own. */
export const ownedSequenceList = (oid: string): string => `
  coalesce((select json_agg(json_build_object('column', a.attname, 'name', q.oid::regclass::text,
        'maySet', has_sequence_privilege(q.oid, 'update') and has_sequence_privilege(q.oid, 'select')
          and has_column_privilege(a.attrelid, a.attnum, 'select'), 'max', p.seqmax::text) order by a.attnum)
    from pg_depend d join pg_class q on q.oid = d.objid and q.relkind = 'S' join pg_sequence p on p.seqrelid = q.oid
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = ${oid}
      and d.deptype in ('a', 'i') and p.seqincrement > 0), '[]')`;

/** Reads the columns of tables (quoted names); none of a table that does not exist. */
export const columnsOf = async (
  client: Client,
  names: readonly string[],
): Promise<readonly (readonly TableColumn[])[]> => {
  const { rows } = await client.query(
    `select ${columnList('to_regclass(n.name)')} as columns from unnest($1::text[]) with ordinality as n (name, place)
      order by n.place`,
    [names],
  );
  return rows.map(({ columns }) => columns);
};

/** Reads built tables. Indexes are described as they will be in production. */
export const builtStates = async (
  client: Client,
  tables: readonly TableNames[],
): Promise<readonly BuiltState[]> => {
  const { rows } = await client.query(
    `select c.oid, ${columnList('c.oid')} as columns, ${indexList('c.oid', "format('%I.%I', b.schema, b.name)")} as indexes,
        ${constraintList('c.oid')} as constraints, ${sequenceList('c.oid')} as sequences
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as b (schema, name, build_schema, built, place)
        join pg_namespace n on n.nspname = b.build_schema join pg_class c on c.relnamespace = n.oid and c.relname = b.built
      order by b.place`,
    [
      tables.map(({ schema }) => schema),
      tables.map(({ table }) => table),
      tables.map(({ buildSchema }) => buildSchema),
      tables.map(({ built }) => built),
    ],
  );
  return rows;
};
