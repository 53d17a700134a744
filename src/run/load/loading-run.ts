// The part of a run that loading needs.

import type { Lease, SourceFile } from '../../model.ts';
import type { LoadedTable } from '../begin/planned-table.ts';

export interface LoadingRun {
  readonly lease: Lease;
  readonly files: readonly SourceFile[];
  readonly planned: readonly LoadedTable[];
}
