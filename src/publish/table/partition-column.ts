// The column that divides a table, and whether each of its values has one text, by which its partition is known.
//
// 1.0 and 1.00 are one value and two texts; so are 'CA' and 'ca' of a citext, and 1 day and 24:00:00. The second of them belongs to the
// partition of the first, which is not found. The server knows of each type whether that happens, because it also decides whether an
// index may keep equal values once. PostgreSQL, "B-Tree Support Functions", equalimage.

/** What is known of the column by which a table is divided. */
export interface PartitionColumn {
  /** As the server writes it. */
  readonly type: string;
  readonly hasOneText: boolean;
}

/** SQL: that of the partitioned table `p`, a row of pg_partitioned_table; null: it is divided by an expression. PostgreSQL 14 to 16 say it of intervals, too. */
export const selectPartitionColumn = `
  (select json_build_object('type', format_type(a.atttypid, a.atttypmod), 'hasOneText',
        coalesce(l.collisdeterministic, true) and o.opcintype <> 'interval'::regtype
          and (o.opcintype = 'numeric'::regtype and greatest(a.atttypmod, y.typtypmod) >= 0
            or exists (select from pg_amproc r
              where r.amprocfamily = o.opcfamily and r.amprocnum = 4 and r.amproclefttype = o.opcintype)))
    from pg_attribute a join pg_type y on y.oid = a.atttypid join pg_opclass o on o.oid = p.partclass[0]
      left join pg_collation l on l.oid = p.partcollation[0]
    where a.attrelid = p.partrelid and a.attnum = p.partattrs[0])`;
