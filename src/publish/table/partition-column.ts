// Reads whether each value of a partitioning column has only one text. Partitions by list are found
// by text.
//
// 1.0 and 1.00 are one value and two texts; so are 'CA' and 'ca' in a citext column, or the
// intervals 1 day and 24:00:00. Rows with the second text belong to the partition of the first, but
// would not be found there. The server knows for which types this happens, because the same
// property decides whether a B-tree may store equal values only once. PostgreSQL, "B-Tree Support
// Functions", equalimage.

/** The column by which a table is partitioned. */
export interface PartitionColumn {
  /** As format_type() writes it. */
  readonly type: string;
  readonly hasOneText: boolean;
}

/**
 * SQL: the partitioning column of `p`, a row of pg_partitioned_table, as a JSON object; null if the
 * table is partitioned by an expression. Intervals are excluded by name: PostgreSQL 14 to 16
 * wrongly claim equalimage for them.
 */
export const selectPartitionColumn = `
  (select json_build_object('type', format_type(a.atttypid, a.atttypmod), 'hasOneText',
        coalesce(l.collisdeterministic, true) and o.opcintype <> 'interval'::regtype
          and (o.opcintype = 'numeric'::regtype and greatest(a.atttypmod, y.typtypmod) >= 0
            or exists (select from pg_amproc r
              where r.amprocfamily = o.opcfamily and r.amprocnum = 4 and r.amproclefttype = o.opcintype)))
    from pg_attribute a join pg_type y on y.oid = a.atttypid join pg_opclass o on o.oid = p.partclass[0]
      left join pg_collation l on l.oid = p.partcollation[0]
    where a.attrelid = p.partrelid and a.attnum = p.partattrs[0])`;
