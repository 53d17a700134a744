// The constraints of a table beside its primary key, as a pipeline declares them.

/** What the server makes sure of, by a name that the declaration owns. A condition is SQL that no row makes false. */
export type ConstraintSpec =
  | { readonly kind: 'check'; readonly name: string; readonly condition: string }
  | { readonly kind: 'unique'; readonly name: string; readonly columns: readonly string[] }
  | ForeignKeySpec;

/** What becomes of a row when the one that it refers to is deleted. */
export const deleteActions = ['no action', 'cascade', 'set null'] as const;

export interface ForeignKeySpec {
  readonly kind: 'foreign key';
  readonly name: string;
  readonly columns: readonly string[];
  readonly references: TableRef;
  /** Columns of that table. */
  readonly to: readonly string[];
  readonly onDelete: (typeof deleteActions)[number];
}

/** A table; undefined: in the pipeline's own schema. */
export interface TableRef {
  readonly schema: string | undefined;
  readonly table: string;
}
