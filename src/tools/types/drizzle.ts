// Writes a schema of Drizzle: tables, columns and primary keys, with which queries are typed.

import { keyText, literal } from '../../core/source-text.ts';
import { readType, valueType } from './driver-types.ts';
import { camelCase, tableNames } from './identifiers.ts';
import type { TypedColumn, TypedTable } from './typed-tables.ts';

/** Words that no constant of a module can be called, and names that the file uses itself. */
const reserved = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends
  false finally for function if implements import in instanceof interface let new null package private protected
  public return static super switch this throw true try typeof undefined var void while with yield
  other sql t`.split(/\s+/),
);

/** A type for which Drizzle has no builder. Its values are those that the driver returns. */
const otherType = (type: string): string => `other<${valueType(type)}>(${literal(type)})`;

const builderOf = ({ type }: TypedColumn): string => {
  const read = readType(type);
  const builder = read?.type.drizzle?.(read.modifiers);
  if (read === undefined || builder === undefined) return otherType(type);
  return read.isArray ? `${builder}.array()` : builder;
};

const fillingOf = ({ filling }: TypedColumn): string => {
  if (filling === null) return '';
  if (filling.kind === 'identity')
    return filling.always ? '.generatedAlwaysAsIdentity()' : '.generatedByDefaultAsIdentity()';
  const expression = `sql.raw(${literal(filling.expression ?? '')})`;
  return filling.kind === 'generated' ? `.generatedAlwaysAs(${expression})` : `.default(${expression})`;
};

const columnText = (column: TypedColumn): string =>
  `${keyText(column.name)}: ${builderOf(column)}${column.isNullable ? '' : '.notNull()'}${fillingOf(column)},`;

const tableText = ({ name, columns, primaryKey }: TypedTable, own: string, make: string): string => {
  const key = primaryKey.map((column) => `table[${literal(column)}]`).join(', ');
  const end = key === '' ? '});' : `}, (table) => [t.primaryKey({ columns: [${key}] })]);`;
  return [
    `export const ${own} = ${make}(${literal(name)}, {`,
    ...columns.map((column) => `  ${columnText(column)}`),
    end,
  ].join('\n');
};

export const drizzleSchema = (tables: readonly TypedTable[]): readonly string[] => {
  const schemas = [...new Set(tables.map(({ schema }) => schema))].filter((schema) => schema !== 'public');
  const asTables = schemas.map((schema) => ({
    schema,
    name: `${schema}_schema`,
    primaryKey: [],
    columns: [],
  }));
  const schemaNames = tableNames(asTables, camelCase, reserved);
  const taken = new Set([...reserved, ...schemaNames]);
  const names = tableNames(tables, camelCase, taken);
  const made = tables.map((table, index) => {
    const schema = schemas.indexOf(table.schema);
    return tableText(table, names[index]!, schema === -1 ? 't.pgTable' : `${schemaNames[schema]}.table`);
  });
  const has = (text: string): boolean => made.some((table) => table.includes(text));
  return [
    [
      ...(has('sql.raw(') ? ["import { sql } from 'drizzle-orm';"] : []),
      "import * as t from 'drizzle-orm/pg-core';",
    ].join('\n'),
    ...(has(' other<')
      ? ['const other = <Data>(type: string) => t.customType<{ data: Data }>({ dataType: () => type })();']
      : []),
    ...schemas.map((schema, index) => `export const ${schemaNames[index]} = t.pgSchema(${literal(schema)});`),
    ...made,
  ];
};
