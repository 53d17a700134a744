// Gives the rows of a run the types of the existing table, where rows of both are compared or in one
// partitioned table.

import type { Client } from '../../db/client.ts';
import { besideName, builtName, productionName } from '../../db/names.ts';
import { quoteName } from '../../db/sql.ts';
import { selectTaken, takenTypes } from '../../publish/alter/taken-types.ts';
import { valueAs } from '../../publish/alter/widening.ts';
import { columnsOf } from '../../publish/table/table-state.ts';
import type { DeclaredTable, TakenType } from '../../publish/table/tables.ts';

/** Otherwise the types change when the rows are inserted. */
const isTaken = ({ partitionBy, extent, mode }: DeclaredTable): boolean =>
  partitionBy !== undefined || (extent === 'part' && mode.rowsKnownBy === 'key');

interface Rows {
  /** Quoted name. */
  readonly source: string;
  readonly taken?: readonly TakenType[] | undefined;
}

/** Returns staging, or a copy of it with production's types. Staging itself may get more rows. */
export const takeStaged = async (
  client: Client,
  names: DeclaredTable,
  source: string,
  isRehearsal = false,
): Promise<Rows> => {
  if (!isTaken(names)) return { source };
  const [columns, production] = await columnsOf(client, [source, productionName(names)]);
  const taken = takenTypes(columns!, production!);
  if (taken.length === 0) return { source };
  const copy = quoteName(names.buildSchema, besideName(names.table, 'taken'));
  const list = selectTaken(
    columns!.map(({ name }) => name),
    taken,
  );
  await client.query(
    `create ${isRehearsal ? '' : 'unlogged '}table ${copy} as select ${list} from ${source}`,
  );
  return { source: copy, taken };
};

/** Changes the types of a table that SQL has made. */
export const takeMade = async (
  client: Client,
  names: DeclaredTable,
): Promise<readonly TakenType[] | undefined> => {
  if (!isTaken(names)) return undefined;
  const [columns, production] = await columnsOf(client, [builtName(names), productionName(names)]);
  const taken = takenTypes(columns!, production!);
  if (taken.length === 0) return undefined;
  const parts = taken.map(
    (one) => `alter column ${quoteName(one.name)} type ${one.to} using ${valueAs(one)}`,
  );
  await client.query(`alter table ${builtName(names)} ${parts.join(', ')}`);
  return taken;
};
