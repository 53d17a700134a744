// Constraints of a table, except its primary key, as a pipeline declares them.

export type ConstraintSpec =
  | { readonly kind: 'check'; readonly name: string; readonly condition: string }
  | { readonly kind: 'unique'; readonly name: string; readonly columns: readonly string[] }
  | ForeignKeySpec;

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
  readonly schema: string | undefined;
  readonly table: string;
}
