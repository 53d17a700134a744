// A table that a run loads from files: the files, and the columns of its staging table.

import type { HeldVersion } from '../../ledger/production/held-files.ts';
import type { SourceFile } from '../../core/model.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { StagingColumn } from '../../db/staging.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { typeOf } from '../../format/types/registry.ts';
import { columnsMax, identifierBytesMax } from '../../core/limits.ts';
import { refuseShape } from '../../publish/table/shape.ts';
import { headerDiffers, type PlannedFile } from './held-files.ts';
import type { Intake } from './sieve.ts';

export interface PlannedTable {
  readonly table: SourceTableSpec;
  readonly files: readonly (PlannedFile & Pick<SourceFile, 'ordinal'>)[];
  readonly staging: readonly StagingColumn[];
  readonly intake: Intake;
  readonly held: readonly HeldVersion[];
}

/** The server would shorten a name without an error, and two columns might get the same name. */
const cutName = (name: string): string =>
  new TextDecoder().decode(Buffer.from(name).subarray(0, identifierBytesMax), { stream: true });

export const textColumns = (header: readonly string[]): readonly string[] =>
  header.map((name, index) => (name === '' ? `field_${index + 1}` : cutName(name)));

export const stagingColumns = (
  table: SourceTableSpec,
  files: readonly NewFile[],
): readonly StagingColumn[] => {
  if (table.staging !== 'text')
    return table.columns.map((column) => ({ name: column.name, type: typeOf(column).sql(column.options) }));
  const [first, ...others] = files;
  const header = first?.header ?? [];
  for (const other of others) {
    const differs = headerDiffers(table.name, first!, other);
    if (differs !== undefined) throw differs;
  }
  if (header.length > columnsMax)
    refuseShape(
      table.name,
      `${first!.name} has ${header.length} fields, and PostgreSQL allows ${columnsMax} columns`,
      "Declare the columns that are needed, without staging: 'text'.",
    );
  return textColumns(header).map((name) => ({ name, type: 'text' }));
};
