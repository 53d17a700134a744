// What the check of a declaration needs to know about a mode of `publish`.

import type { z } from 'zod';
import type { ColumnSpec, PublishSpec, SourceTableSpec, TableSpec } from '../../../core/declaration.ts';
import type { Problems } from '../../problems.ts';
import type { Known } from '../declared-values.ts';

/** A table as far as its mode is concerned. `staging` is undefined for a derived table. */
export interface PublishedTable<Spec extends PublishSpec> extends Pick<
  TableSpec,
  'name' | 'primaryKey' | 'partitionBy'
> {
  readonly publish: Spec;
  readonly staging?: SourceTableSpec['staging'];
}

/** The declaration of a mode. registry.ts lists all modes. */
export interface DeclaredMode<Spec extends PublishSpec> {
  /** Schema of `publish: { mode: '…', … }`. */
  readonly schema: z.ZodType<Spec>;
  /**
   * Adds the problems of a table with this mode.
   *
   * @param known names of the columns whose values come from files or SQL
   * @param columns specifications of the columns whose values come from files
   */
  readonly check: (
    table: PublishedTable<Spec>,
    known: Known,
    columns: readonly ColumnSpec[],
    problems: Problems,
  ) => void;
  /** Adds the columns that the mode needs in staging or in production. */
  readonly complete: (table: SourceTableSpec, publish: Spec) => SourceTableSpec;
}
