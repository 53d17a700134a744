// What the check of a declaration needs to know about a mode of `publish`.

import type { z } from 'zod';
import type { ColumnSpec, PublishSpec, SourceTableSpec, TableSpec } from '../../../core/declaration.ts';
import type { Problems } from '../../problems.ts';
import type { Known } from '../declared-values.ts';

/** The keys of a table that a mode checks. `staging` is undefined for a derived table. */
export interface PublishedTable<Spec extends PublishSpec> extends Pick<
  TableSpec,
  'name' | 'primaryKey' | 'partitionBy'
> {
  readonly publish: Spec;
  readonly staging?: SourceTableSpec['staging'];
}

export interface DeclaredMode<Spec extends PublishSpec> {
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
  readonly complete: (table: SourceTableSpec, publish: Spec) => SourceTableSpec;
}
