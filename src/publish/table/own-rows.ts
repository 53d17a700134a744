// Which rows belong to a production table, and whether a ctid identifies one of them.

import { productionName, type TableNames } from '../../db/names.ts';
import { keepsRowsElsewhere } from './extensions.ts';
import type { ProductionTable } from './production.ts';

type Kept = Pick<ProductionTable, 'kind' | 'dependents' | 'distribution'>;

/** Returns the table to read. `only` excludes tables that inherit from it; partitions are read. */
export const ownRows = (table: TableNames, production: Kept): string =>
  production.kind === 'p' || keepsRowsElsewhere(production)
    ? productionName(table)
    : `only ${productionName(table)}`;

/** True if a ctid identifies a row: not across partitions, or if an extension stores the rows. */
export const isOnePiece = (production: Kept): boolean =>
  production.kind === 'r' && !keepsRowsElsewhere(production);
