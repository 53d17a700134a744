// Advice for a table that people made: the declaration that fits it. Their table is theirs, so it is
// never DDL.

import type { FieldRef } from '../../core/declaration.ts';
import { keyText, literal, objectText } from '../../core/source-text.ts';
import { declarationText } from '../../format/types/declaration-text.ts';
import { quoteName } from '../../db/sql.ts';
import type { ProductionTable } from './production.ts';
import type { TableColumn } from './table-state.ts';
import type { DeclaredTable } from './tables.ts';

/** True if no run made the table, so that no run and no advice of ours changes its columns. */
export const isOthers = ({ published }: Pick<ProductionTable, 'published'>): boolean =>
  published?.isMade !== true;

const refText = (ref: FieldRef): string => {
  if (typeof ref === 'string') return literal(ref);
  if (typeof ref === 'number') return String(ref);
  return 'from' in ref ? objectText(ref) : `path(${ref.path})`;
};

const fieldsText = (refs: readonly FieldRef[]): string =>
  refs.length === 1 ? refText(refs[0]!) : `[${refs.map(refText).join(', ')}]`;

const columnText = ({ declared }: DeclaredTable, { name, type, notNull }: TableColumn): string => {
  const { headers = [], options, nullable = !notNull } = declared.find((one) => one.name === name) ?? {};
  const isZoned = type.endsWith(' with time zone') && type.startsWith('timestamp');
  const zone = isZoned && options?.['zone'] === undefined ? { zone: 'UTC' } : {};
  return `${keyText(name)}: ${declarationText({
    type,
    field: headers.length === 0 ? literal(name) : fieldsText(headers),
    options: { ...options, ...zone },
    isNullable: nullable,
  })}`;
};

const unquotedMax = 5;

const listed = (names: readonly string[]): string =>
  names.length > unquotedMax ? `${names.slice(0, unquotedMax).join(', ')}, …` : names.join(', ');

/**
 * Says which columns to declare otherwise, as code to paste. `whole`: all columns of the table must
 * be declared; otherwise only those that need a value.
 */
export const fittingHint = (
  table: DeclaredTable,
  columns: readonly TableColumn[],
  production: ProductionTable,
  whole: boolean,
): string => {
  const own = (name: string): TableColumn | undefined => columns.find((one) => one.name === name);
  const there = production.columns.filter(({ filledBy }) => filledBy === null);
  const typed = there.filter(({ name, type }) => own(name) !== undefined && own(name)?.type !== type);
  const needed = there.filter(
    ({ name, notNull, hasDefault }) => own(name) === undefined && (whole || (notNull && !hasDefault)),
  );
  const more = columns
    .filter(({ name, filledBy }) => {
      const was = production.columns.find((one) => one.name === name);
      return was === undefined || (filledBy !== null && filledBy !== was.filledBy);
    })
    .map(({ name }) => name);
  const declarations = [...typed, ...needed].map((column) => columnText(table, column));
  const isMadeBySql = table.declared.length === 0;
  const casts = [...typed, ...needed].map(({ name, type }) => `${quoteName(name)}::${type}`);
  const isZoned = declarations.some((text) => text.includes("zone: 'UTC'"));
  return [
    ...(declarations.length === 0
      ? []
      : isMadeBySql
        ? [`Select in the SQL what the table has: ${casts.join(', ')}.`]
        : [`Declare what the table has: \`${declarations.join(', ')}\`.`]),
    ...(isZoned && !isMadeBySql ? ['zone is the time zone in which the files write times.'] : []),
    ...(more.length === 0 ? [] : [`Leave out ${listed(more)}: no run made the table, so none changes it.`]),
  ].join(' ');
};
