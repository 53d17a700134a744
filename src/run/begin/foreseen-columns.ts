// What a run would alter of the columns of tables that stay, said before anything is made: there is no staging to compare with yet.

import type { PipelineSpec } from '../../declaration.ts';
import type { Client } from '../../db/client.ts';
import { EtlError } from '../../errors.ts';
import { foreseenColumns as columnsFilled } from '../../publish/attributes/changes.ts';
import { writtenTypes } from '../../publish/attributes/server-columns.ts';
import { evolutionOf, refuseUnfit } from '../../publish/evolve.ts';
import { authorsPath, publishedColumns } from '../../publish/names.ts';
import { productionTables } from '../../publish/production/production.ts';
import type { TableColumn } from '../../publish/production/table-state.ts';
import { declaredAs } from '../landing.ts';
import type { PlannedTable } from './plan.ts';

/** The declared columns with their types as the server writes them. */
const asServerWrites = async (
  client: Client,
  spec: PipelineSpec,
  { table, staging: staged }: PlannedTable,
): Promise<readonly TableColumn[]> => {
  const columns = publishedColumns(table);
  const staging = staged.filter(({ name }) => columns.some((column) => column.name === name));
  const types = await writtenTypes(
    client,
    authorsPath(spec),
    staging.map(({ type }) => type),
  );
  return columns.map(({ name, nullable }, place) => ({
    name,
    type: types[place]!,
    notNull: !nullable,
    hasDefault: false,
    filledBy: null,
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
    const columns = [
      ...(await asServerWrites(client, spec, staying[place]!)),
      ...(await columnsFilled(client, target, production)),
    ];
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
