// What a pipeline declares of the shape of production, as plain frozen data: indexes, partitions, attributes.

export interface IndexSpec {
  /** Given, or made from table and columns. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly using: 'btree' | 'brin' | 'hash' | 'gin' | 'gist' | 'spgist';
  readonly unique: boolean;
  readonly where: string | undefined;
  readonly include: readonly string[];
}

export const partitionUnits = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type PartitionUnit = (typeof partitionUnits)[number];

/** How production of a table is divided: by time, by value, or by a hash of it. */
export type PartitionSpec = { readonly column: string } & (
  | { readonly by: 'range'; readonly unit: PartitionUnit }
  | { readonly by: 'list' }
  | { readonly by: 'hash'; readonly partitions: number }
);

/** Attributes that are declared; what a definition does not mention stays as people have set it. */
export interface AttributesSpec {
  /** Comments by column. */
  readonly columnComments?: Readonly<Record<string, string>>;
  /** Statistics targets by column. */
  readonly statistics?: Readonly<Record<string, number>>;
  /** Storage parameters, as the server keeps them: `fillfactor`, `toast.autovacuum_enabled`. */
  readonly storage?: Readonly<Record<string, string>>;
  /** Of the table and its indexes. */
  readonly tablespace?: string;
  /** Columns that no file has a value for, after all others. */
  readonly serverColumns?: readonly ServerColumnSpec[];
}

/** A column that the server fills: computed from others of its row, or numbered. */
export type ServerColumnSpec =
  | {
      readonly kind: 'generated';
      readonly name: string;
      readonly type: string;
      readonly expression: string;
    }
  | { readonly kind: 'identity'; readonly name: string; readonly when: 'always' | 'by default' };
