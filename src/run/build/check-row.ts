// Compares a table that a SQL file has built with the declared `row`.

import type { MadeColumn, TableSpec } from '../../core/declaration.ts';
import { runQuery, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { buildError, setNotNull } from '../../publish/aside/build-table.ts';
import { builtName, type TableNames } from '../../db/names.ts';
import { columnsOf } from '../../publish/table/table-state.ts';

/** JavaScript type for each SQL type. Other types, such as arrays, are not compared. */
const values: Readonly<Record<string, MadeColumn['value']>> = {
  smallint: 'number',
  integer: 'number',
  real: 'number',
  'double precision': 'number',
  bigint: 'bigint',
  boolean: 'boolean',
  text: 'string',
  'character varying': 'string',
  numeric: 'string',
  date: 'string',
  uuid: 'string',
  'time without time zone': 'string',
  'timestamp without time zone': 'string',
  'timestamp with time zone': 'string',
};

const differences = (
  row: readonly MadeColumn[],
  made: readonly { readonly name: string; readonly type: string }[],
): readonly string[] => {
  const missing = row.filter(({ name }) => !made.some((column) => column.name === name));
  const more = made.filter(({ name }) => !row.some((column) => column.name === name));
  const other = made.flatMap(({ name, type }) => {
    const declared = row.find((column) => column.name === name)?.value;
    const value = values[type.replace(/\(.*?\)/, '')];
    if (declared === undefined || value === undefined || declared === 'any' || declared === value) return [];
    return [`${name} is ${type}, whose JavaScript value is a ${value}, and row says ${declared}`];
  });
  return [
    ...missing.map(({ name }) => `row has ${name}, the SQL has not`),
    ...more.map(({ name, type }) => `the SQL gives ${name} (${type}), row does not`),
    ...other,
  ];
};

/**
 * Compares the columns, and sets `not null` where `row` declares it. Errors: ETL_ROW_DIFFERS,
 * ETL_PUBLISH_NULL.
 */
export const checkRow = async (client: Client, table: TableSpec, names: TableNames): Promise<void> => {
  const { row } = table;
  if (row === undefined) return;
  const [columns] = await columnsOf(client, [builtName(names)]);
  const problems = differences(row, columns!);
  if (problems.length > 0)
    throw new EtlError('ETL_ROW_DIFFERS', { table: table.name, problem: problems.join('; ') });
  const required = row.filter(({ nullable }) => !nullable).map(({ name }) => name);
  if (required.length === 0) return;
  try {
    await runQuery(client, setNotNull(names, required));
  } catch (cause) {
    throw buildError(names, 'row', cause);
  }
};
