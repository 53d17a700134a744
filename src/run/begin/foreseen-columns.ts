// What a run would alter of the columns of tables that stay, said before anything is made: there is no staging to compare with yet.

import type { PipelineSpec } from '../../declaration.ts';
import { withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { EtlError } from '../../errors.ts';
import { evolutionOf, refuseUnfit } from '../../publish/evolve.ts';
import { authorsPath, publishedColumns } from '../../publish/names.ts';
import { productionTables } from '../../publish/production/production.ts';
import type { TableColumn } from '../../publish/production/table-state.ts';
import { declaredAs } from '../landing.ts';
import type { PlannedTable } from './plan.ts';

/** The declared columns with their types as the server writes them: a list of nulls has them without a table. */
const asServerWrites = async (
  client: Client,
  spec: PipelineSpec,
  { table, staging: staged }: PlannedTable,
): Promise<readonly TableColumn[]> => {
  const columns = publishedColumns(table);
  const staging = staged.filter(({ name }) => columns.some((column) => column.name === name));
  const nulls = staging.map(({ name, type }) => `null::${type} as ${quoteName(name)}`).join(', ');
  const { fields } = await withTransaction(client, () =>
    withPath(client, authorsPath(spec), () => client.query(`select ${nulls} limit 0`)),
  );
  const { rows } = await client.query(
    'select format_type(t.oid, t.size) as type from unnest($1::oid[], $2::integer[]) with ordinality as t (oid, size, place) order by place',
    [fields.map((field) => field.dataTypeID), fields.map((field) => field.dataTypeModifier)],
  );
  return columns.map(({ name, nullable }, place) => ({
    name,
    type: rows[place].type,
    notNull: !nullable,
    hasDefault: false,
  }));
};

/** By the names of tables: the statement that a run would execute, or why it would stop. */
export const foreseenColumns = async (
  client: Client,
  spec: PipelineSpec,
  planned: readonly PlannedTable[],
): Promise<ReadonlyMap<string, string>> => {
  const staying = planned.filter(
    ({ table, intake }) => intake.extent === 'part' && table.transform === undefined,
  );
  const targets = staying.map(({ table, intake }) => declaredAs(spec, table, intake.extent));
  const found = await productionTables(client, targets);
  const texts = new Map<string, string>();
  for (const [place, target] of targets.entries()) {
    const production = found[place];
    if (production === undefined) continue;
    const columns = await asServerWrites(client, spec, staying[place]!);
    try {
      refuseUnfit(target, columns, production);
      for (const text of evolutionOf(target, columns, production).texts) texts.set(target.table, text);
    } catch (refusal) {
      if (!(refusal instanceof EtlError)) throw refusal;
      texts.set(target.table, `refused: ${refusal.message}. ${refusal.hint}`);
    }
  }
  return texts;
};
