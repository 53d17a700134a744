// Reads how a table in production is partitioned, and into which partitions.
//
// Partitions by list are found by the text of their value, so each value must have only one text.
// 1.0 and 1.00 are one value and two texts; so are 'CA' and 'ca' in a citext column. The server
// knows such types, because their B-trees may not store equal values only once. PostgreSQL, "B-Tree
// Support Functions", equalimage.

export interface FoundPartitioning {
  /** `by`: range, list or hash. `columns`: null for an expression. */
  readonly by: string;
  readonly columns: readonly (string | null)[];
  readonly text: string;
  /** Type of the first column, as format_type() writes it; null for an expression. */
  readonly type: string | null;
  readonly hasOneText: boolean;
  readonly partitions: readonly {
    readonly schema: string;
    readonly name: string;
    /** As the server writes it: "FOR VALUES IN ('a')", "DEFAULT". */
    readonly bound: string;
  }[];
}

/** SQL for the partitioning. PostgreSQL 14 to 16 wrongly claim equalimage of intervals. */
export const partitioningOf = (oid: string): string => `
  (select json_build_object('text', pg_get_partkeydef(p.partrelid),
      'by', case p.partstrat when 'r' then 'range' when 'l' then 'list' else 'hash' end,
      'columns', array(select c.attname::text from unnest(p.partattrs) with ordinality as u (attnum, place)
        left join pg_attribute c on c.attrelid = p.partrelid and c.attnum = u.attnum and u.attnum > 0 order by u.place),
      'type', format_type(a.atttypid, a.atttypmod),
      'hasOneText', coalesce(l.collisdeterministic, true) and o.opcintype <> 'interval'::regtype
        and (o.opcintype = 'numeric'::regtype and greatest(a.atttypmod, y.typtypmod) >= 0
          or exists (select from pg_amproc r
            where r.amprocfamily = o.opcfamily and r.amprocnum = 4 and r.amproclefttype = o.opcintype)),
      'partitions', coalesce((
        select json_agg(json_build_object('schema', s.nspname, 'name', r.relname, 'bound', b.bound) order by r.relname)
          from pg_inherits i join pg_class r on r.oid = i.inhrelid join pg_namespace s on s.oid = r.relnamespace
            cross join lateral (select pg_get_expr(r.relpartbound, r.oid) as bound) b
          -- Null: the partition was dropped while the catalogue was read.
          where i.inhparent = p.partrelid and r.relispartition and b.bound is not null), '[]'))
    from pg_partitioned_table p join pg_opclass o on o.oid = p.partclass[0]
      left join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0] and a.attnum > 0
      left join pg_type y on y.oid = a.atttypid left join pg_collation l on l.oid = p.partcollation[0]
    where p.partrelid = ${oid})`;
