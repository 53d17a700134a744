// A table that is being built: it has its rows, but no keys, indexes and statistics.

import type { ConstraintSpec } from '../../core/constraint.ts';
import type { IndexSpec } from '../../core/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { BuildWhat } from '../../core/model.ts';
import type { TableNames } from '../../db/names.ts';
import type { StagedStatistics } from './staged-statistics.ts';

export interface Building {
  readonly client: Client;
  readonly names: TableNames;
  readonly whole?: TableNames;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly constraints: readonly ConstraintSpec[];
  readonly making: <T>(what: BuildWhat, work: () => Promise<T>) => Promise<T>;
  readonly announce: (message: string) => void;
  /** Statistics of staging to copy; missing: the new table is analyzed. */
  readonly statistics?: StagedStatistics | undefined;
  readonly isRehearsal?: boolean;
}
