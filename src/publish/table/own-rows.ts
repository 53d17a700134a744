// Which rows are those of a production table, and whether their places identify them.

import { productionName, type TableNames } from '../../db/names.ts';
import { keepsRowsElsewhere } from './extensions.ts';
import type { ProductionTable } from './production.ts';

type Kept = Pick<ProductionTable, 'kind' | 'dependents'>;

/** SQL: the table's own rows. Partitions belong to it, tables that inherit from it do not. */
export const ownRows = (table: TableNames, { kind, dependents }: Kept): string =>
  kind === 'p' || keepsRowsElsewhere(dependents) ? productionName(table) : `only ${productionName(table)}`;

/** Whether the place of a row (ctid) says which it is: not where rows lie in partitions, or elsewhere. */
export const isOnePiece = ({ kind, dependents }: Kept): boolean =>
  kind === 'r' && !keepsRowsElsewhere(dependents);
