// Constraints of a table, except its primary key, as a pipeline declares them.

/** `condition` is a SQL expression, as in `check (…)`. */
export type ConstraintSpec =
  | { readonly kind: 'check'; readonly name: string; readonly condition: string }
  | { readonly kind: 'unique'; readonly name: string; readonly columns: readonly string[] }
  | ForeignKeySpec;

/** What happens to a row when the row it refers to is deleted. */
export const deleteActions = ['no action', 'cascade', 'set null'] as const;

export interface ForeignKeySpec {
  readonly kind: 'foreign key';
  readonly name: string;
  readonly columns: readonly string[];
  readonly references: TableRef;
  readonly to: readonly string[];
  readonly onDelete: (typeof deleteActions)[number];
}

export interface TableRef {
  /** undefined: the pipeline's own schema. */
  readonly schema: string | undefined;
  readonly table: string;
}
