// A table that is being built.

import type { ConstraintSpec } from '../../core/constraint.ts';
import type { IndexSpec } from '../../core/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { BuildWhat } from '../../core/model.ts';
import type { TableNames } from '../../db/names.ts';
import type { StagedStatistics } from './staged-statistics.ts';

/** A table that is being built: it has its rows, but no keys, indexes or statistics yet. */
export interface Building {
  readonly client: Client;
  readonly names: TableNames;
  /** The partitioned table, if this one is a partition. */
  readonly whole?: TableNames;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly constraints: readonly ConstraintSpec[];
  /** Runs a step of the work; announces and times it. */
  readonly making: <T>(what: BuildWhat, work: () => Promise<T>) => Promise<T>;
  readonly announce: (message: string) => void;
  /** Statistics of staging to copy; undefined: the new table is analyzed. */
  readonly statistics?: StagedStatistics | undefined;
  /** True if the table stays empty, so that statistics are useless. */
  readonly isRehearsal?: boolean;
}
