// A table that is being built aside.

import type { ConstraintSpec } from '../../core/declaration/constraint.ts';
import type { IndexSpec } from '../../core/declaration/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { BuildWhat } from '../../core/model.ts';
import type { TableNames } from '../../db/names.ts';
import type { StagedStatistics } from './staged-statistics.ts';

/** A table that is being built aside: it has its rows, and nothing else yet. */
export interface Building {
  readonly client: Client;
  readonly names: TableNames;
  /** The table that it is a partition of. */
  readonly whole?: TableNames;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly constraints: readonly ConstraintSpec[];
  /** Announces and times a part of the work. */
  readonly making: <T>(what: BuildWhat, work: () => Promise<T>) => Promise<T>;
  readonly announce: (message: string) => void;
  /** Undefined: the table is analyzed itself. */
  readonly statistics?: StagedStatistics | undefined;
  /** It has no rows, and will get none, so statistics are useless. */
  readonly isRehearsal?: boolean;
}
