// Indexes, partitions and attributes of a production table, as a pipeline declares them.

export interface IndexSpec {
  /** Declared, or made from the names of the table and its columns. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly using: 'btree' | 'brin' | 'hash' | 'gin' | 'gist' | 'spgist';
  readonly unique: boolean;
  readonly where: string | undefined;
  readonly include: readonly string[];
}

export const partitionUnits = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type PartitionUnit = (typeof partitionUnits)[number];

export type PartitionSpec = { readonly column: string } & (
  | { readonly by: 'range'; readonly unit: PartitionUnit }
  | { readonly by: 'list' }
  | { readonly by: 'hash'; readonly partitions: number }
);

/** How Citus stores a table: its rows by a column, or a copy of all rows on every node. */
export type DistributionSpec =
  | 'reference'
  | {
      readonly by: string;
      /** Table whose rows with the same value are on the same node. */
      readonly with?: string;
    };

/** Attributes of a table. If one is not declared, its value in the database is kept. */
export interface AttributesSpec {
  readonly columnComments?: Readonly<Record<string, string>>;
  /** Statistics targets by column, as in `alter column … set statistics`. */
  readonly statistics?: Readonly<Record<string, number>>;
  /** Storage parameters by name: `fillfactor`, `toast.autovacuum_enabled`. */
  readonly storage?: Readonly<Record<string, string>>;
  readonly tablespace?: string;
  readonly distribute?: DistributionSpec;
  /** Columns that the server fills. They come after all other columns. */
  readonly serverColumns?: readonly ServerColumnSpec[];
}

export type ServerColumnSpec =
  | {
      readonly kind: 'generated';
      readonly name: string;
      readonly type: string;
      readonly expression: string;
    }
  | { readonly kind: 'identity'; readonly name: string; readonly when: 'always' | 'by default' };
