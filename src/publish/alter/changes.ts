// Finds declared attributes that an existing table lacks, and makes statements that set them.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { productionName } from '../../db/names.ts';
import type { DeclaredTable } from '../table/tables.ts';
import type { ProductionTable } from '../table/production.ts';
import { numbered, type TableColumn } from '../table/table-state.ts';
import { attributeList, attributesOf, type Part } from '../table/attributes.ts';
import type { Declared } from '../table/attribute.ts';
import { serverColumnsOf, writtenTypes } from '../table/server-columns.ts';

interface AttributeChanges {
  readonly statements: readonly string[];
  readonly blocksReaders: boolean;
}

const changesOf = (
  name: string,
  declared: Declared,
  found: ProductionTable['attributes'],
  part: Part,
): readonly { readonly statement: string; readonly blocksReaders: boolean }[] =>
  attributesOf(part).flatMap(({ settings, blocksReaders }) =>
    settings(declared, found)
      .filter(({ key, value }) => (found[key] ?? '') !== value)
      .map(({ sql }) => ({ statement: sql(name), blocksReaders })),
  );

export const attributeChanges = (table: DeclaredTable, production: ProductionTable): AttributeChanges => {
  const { partitioning } = production;
  const changes = [
    ...changesOf(
      productionName(table),
      table,
      production.attributes,
      partitioning === undefined ? 'table' : 'whole',
    ),
    ...(partitioning?.partitions ?? []).flatMap(({ schema, name, attributes: found }) =>
      changesOf(quoteName(schema, name), table, found, 'part'),
    ),
  ];
  return {
    statements: changes.map(({ statement }) => statement),
    blocksReaders: changes.some((change) => change.blocksReaders),
  };
};

export const alterPart = async (client: Client, name: string, declared: Declared): Promise<void> => {
  const { rows } = await client.query(`select ${attributeList('to_regclass($1)')} as found`, [name]);
  for (const { statement } of changesOf(name, declared, rows[0].found, 'part')) await client.query(statement);
};

/**
 * Returns the columns that the server will fill. Existing columns count as unchanged: only the
 * built table shows their expressions.
 */
export const foreseenColumns = async (
  client: Client,
  table: DeclaredTable,
  production: ProductionTable | undefined,
): Promise<readonly TableColumn[]> => {
  const columns = serverColumnsOf(table.attributes);
  const types = await writtenTypes(
    client,
    table.path,
    columns.map((column) => (column.kind === 'identity' ? 'bigint' : column.type)),
  );
  return columns.map((column, index) => {
    const was = production?.columns.find(({ name }) => name === column.name);
    const isComputed = was?.filledBy != null && was.filledBy !== numbered;
    return {
      name: column.name,
      type: types[index]!,
      notNull: column.kind === 'identity',
      hasDefault: true,
      filledBy: column.kind === 'identity' ? numbered : isComputed ? was.filledBy : `(${column.expression})`,
    };
  });
};
