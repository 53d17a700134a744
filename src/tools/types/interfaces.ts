// Writes interfaces of rows, and Kysely's interface `Database`.

import { keyText, literal } from '../../core/source-text.ts';
import { insertType, valueType } from './driver-types.ts';
import { pascalCase, tableNames } from './identifiers.ts';
import type { TypedColumn, TypedTable } from './typed-tables.ts';

/** Names that the written types use. */
const taken = new Set(['Buffer', 'ColumnType', 'Database', 'Date']);

const orNull = (type: string, { isNullable }: TypedColumn): string => (isNullable ? `${type} | null` : type);

const kyselyType = (column: TypedColumn): string => {
  const { filling, type } = column;
  const read = orNull(valueType(type), column);
  if (filling?.always === true) return `ColumnType<${read}, never, never>`;
  const write = orNull(insertType(type), column);
  if (filling !== null) return `ColumnType<${read}, ${write} | undefined, ${write}>`;
  return read === write ? read : `ColumnType<${read}, ${write}>`;
};

const interfacesOf = (
  tables: readonly TypedTable[],
  names: readonly string[],
  typeOf: (column: TypedColumn) => string,
): readonly string[] =>
  tables.map(({ columns }, index) =>
    [
      `export interface ${names[index]} {`,
      ...columns.map((column) => `  ${keyText(column.name)}: ${typeOf(column)};`),
      '}',
    ].join('\n'),
  );

export const plainInterfaces = (tables: readonly TypedTable[]): readonly string[] =>
  interfacesOf(tables, tableNames(tables, pascalCase, taken), (column) =>
    orNull(valueType(column.type), column),
  );

/** Kysely names a table outside the schema public with its schema: `db.selectFrom('noaa.daily')`. */
const kyselyKey = ({ schema, name }: TypedTable): string =>
  schema === 'public' ? keyText(name) : literal(`${schema}.${name}`);

export const kyselyDatabase = (tables: readonly TypedTable[]): readonly string[] => {
  const names = tableNames(tables, pascalCase, taken);
  const interfaces = interfacesOf(tables, names, kyselyType);
  const isUsed = interfaces.some((one) => one.includes('ColumnType<'));
  return [
    ...(isUsed ? ["import type { ColumnType } from 'kysely';"] : []),
    ...interfaces,
    [
      'export interface Database {',
      ...tables.map((table, index) => `  ${kyselyKey(table)}: ${names[index]};`),
      '}',
    ].join('\n'),
  ];
};
