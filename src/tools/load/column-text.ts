// Writes the declaration of a column that a table already has.

import { declarationText, isBuiltBy } from '../../format/types/declaration-text.ts';
import type { DeclaredType } from '../init/contract.ts';
import type { TargetColumn } from './target.ts';

/** How the texts of a column are written, as `--type` and `--zone` say. */
export interface Spelling {
  readonly declared: DeclaredType | undefined;
  readonly zone: string | undefined;
}

/** True if the column has this type of the library, so that the options of `--type` are for it. */
export const hasType = ({ type }: TargetColumn, name: string): boolean => isBuiltBy(type, name);

/** Returns `column.integer('Id').nullable()`. `field`: text of the field's name or position. */
export const columnText = (column: TargetColumn, field: string, { declared, zone }: Spelling): string => {
  const zoned = zone !== undefined && isBuiltBy(column.type, 'timestamptz') ? { zone } : {};
  return declarationText({ ...column, field, options: { ...declared?.options, ...zoned } });
};
