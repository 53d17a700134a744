// Compares a file's header with the fields that its table names.

import type { ColumnSpec, Dialect, FieldRef, FilterSpec, ReadTable } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { firstOf, inQuotes, onOneLine, plural } from '../../core/wording.ts';
import { otherTextHint } from '../records/content.ts';
import { isRefusal } from '../types/contract.ts';
import { createFieldReader, type FieldReader } from './field-reader.ts';
import { extraFields, fieldText } from './file-differences.ts';
import { mainName, refKey, refText, type FileFields } from '../records/file-fields.ts';
import type { HeaderFile } from '../records/header.ts';

/** `skip` is the number of lines up to the end of the header. */
export interface HeaderPosition extends HeaderFile {
  readonly line: number;
  readonly skip: number;
}

const fieldsOfFilter = (filter: FilterSpec): readonly FieldRef[] =>
  filter.kind === 'when' ? filter.headers : [filter.header];

export const neededFields = (
  columns: readonly ColumnSpec[],
  filters: readonly FilterSpec[],
): readonly FieldRef[] => {
  const refs = [...columns.flatMap(({ headers }) => headers), ...filters.flatMap(fieldsOfFilter)];
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
};

const inCode = (character: string): string => (character === '\t' ? String.raw`'\t'` : `'${character}'`);

const declaring = ({ readings }: ReadTable, options: string): string =>
  readings.length === 1 ? `csv(…, { ${options} })` : `{ path: …, ${options} }`;

const foundHint = (table: ReadTable, names: readonly string[], missing: FieldRef, skip: number): string => {
  const isNamed = names.some((name) => name !== '');
  const shown = isNamed ? `: ${firstOf(names, 8).map(onOneLine).join(', ')}` : '';
  const found = `It has ${plural(names.length, 'field')}${shown}.`;
  if (typeof missing === 'number') return found;
  const other = otherTextHint(names.join());
  if (other !== undefined) return other;
  const excel = /^sep=(.?)$/i.exec(names[0]!);
  if (excel !== null) {
    const between = excel[1] === '' ? '' : `, delimiter: ${inCode(excel[1]!)}`;
    return `${found} That line is Excel's, and the header follows it: ${declaring(table, `skipLines: ${skip}${between}`)}.`;
  }
  const delimiter = names.length === 1 ? /[;|\t,]/.exec(names[0]!)?.[0] : undefined;
  if (delimiter !== undefined)
    return `${found} Probably ${declaring(table, `delimiter: ${inCode(delimiter)}`)}.`;
  const near = nearest(mainName(missing), names);
  return near === undefined ? found : `Did you mean ${inQuotes(near)}? ${found}`;
};

const ambiguous = (
  { header, textAt }: FileFields,
  ref: FieldRef,
  [first, second]: readonly number[],
  match: Dialect['match'],
  { skip, ...at }: HeaderPosition,
): EtlError => {
  const [one, other] = [header[first!]!, header[second!]];
  if (one === other) {
    const positions = { first: first! + 1, second: second! + 1 };
    return new EtlError('ETL_HEADER_DUPLICATE', { ...at, ...positions, header: onOneLine(one), skip });
  }
  const hint =
    typeof ref === 'string' && match === 'relaxed' && other !== undefined
      ? "With match: 'relaxed' the two are the same name. Rename one of them in the file, or name it exactly: csv(…, { match: 'exact' }), or { path: …, match: 'exact' } for this file alone."
      : 'A file must have only one of them. Declare a column for each, or leave one name out.';
  return new EtlError('ETL_HEADER_AMBIGUOUS', {
    ...at,
    one: `field ${first! + 1} (${inQuotes(one)})`,
    other:
      other === undefined
        ? `the constant ${inQuotes(textAt(second!)!)}`
        : `field ${second! + 1} (${inQuotes(other)})`,
    wanted: refText(ref),
    hint,
  });
};

/** Returns fields that a file must have; with `missing: 'null'`, only for required columns. */
const requiredFields = ({ missing, columns, filter }: ReadTable): readonly FieldRef[] =>
  missing === 'null'
    ? neededFields(
        columns.filter((column) => !column.nullable && column.default === undefined),
        [],
      )
    : neededFields(columns, filter);

/** Throws for missing fields; lists all if none is there: the delimiter or file may be wrong. */
const checkMissing = (table: ReadTable, fields: FileFields, at: HeaderPosition): void => {
  const needed = neededFields(table.columns, table.filter).filter((ref) => !isOfPath(ref));
  const { header } = fields;
  const isKnown = needed.length === 0 || needed.some((ref) => header[fields.indexOf(ref)] !== undefined);
  const required = isKnown ? requiredFields(table) : needed;
  const missing = required.filter((ref) => !isOfPath(ref) && fields.indexOf(ref) === -1);
  if (missing.length === 0) return;
  const { skip, ...position } = at;
  throw new EtlError('ETL_HEADER_MISSING', {
    ...position,
    part: table.format.dialect.header === false ? 'first record' : 'header',
    headers: missing.map(refText).join(', '),
    hint: foundHint(table, header, missing[0]!, skip),
  });
};

export const isOfPath = (ref: FieldRef): boolean => typeof ref === 'object' && !('from' in ref);

const checkExtra = (table: ReadTable, fields: FileFields, { file, line }: HeaderPosition): void => {
  if (table.extra === 'ignore') return;
  const extra = extraFields(fields, neededFields(table.columns, table.filter));
  if (extra.length === 0) return;
  const names = extra.map((index) => inQuotes(fieldText(fields.header, index)));
  const details = { table: table.name, file, line, headers: firstOf(names, 8).join(', ') };
  throw new EtlError('ETL_HEADER_EXTRA', details);
};

const valueOf = (read: FieldReader, at: Omit<HeaderPosition, 'skip'>): ReturnType<FieldReader> => {
  try {
    return read([]);
  } catch (cause) {
    throw new EtlError('ETL_USER_FUNCTION', { ...at, problem: messageOf(cause) }, { cause });
  }
};

/** Checks values made of path or constants once per file, before anything is loaded. */
const checkValues = (
  { name: table, columns, format }: ReadTable,
  fields: FileFields,
  { file, line }: HeaderPosition,
): void => {
  for (const column of columns) {
    const indexes = column.headers.map(fields.indexOf);
    if (!indexes.every((index) => fields.textAt(index) !== undefined)) continue;
    const value = valueOf(createFieldReader(column, fields, format.dialect), { table, file, line });
    if (value !== null && isRefusal(value))
      throw new EtlError('ETL_FILE_VALUE', { table, file, column: column.name, problem: value.reason });
  }
};

const checkPath = (
  needed: readonly FieldRef[],
  fields: FileFields,
  { table, file }: HeaderPosition,
): void => {
  const lost = needed.find((ref) => isOfPath(ref) && fields.indexOf(ref) === -1);
  if (lost !== undefined) throw new EtlError('ETL_PATH_PART', { table, file, part: refText(lost) });
};

/**
 * Checks that a file's header fits its table. Errors: ETL_HEADER_MISSING, ETL_HEADER_DUPLICATE,
 * ETL_HEADER_AMBIGUOUS, ETL_HEADER_EXTRA, ETL_PATH_PART, ETL_FILE_VALUE.
 */
export const checkHeader = (table: ReadTable, fields: FileFields, at: HeaderPosition): void => {
  const needed = neededFields(table.columns, table.filter);
  checkMissing(table, fields, at);
  checkUnique(needed, fields, table.format.dialect.match, at);
  checkPath(needed, fields, at);
  checkExtra(table, fields, at);
  checkValues(table, fields, at);
};

/** Checks that names are not ambiguous. Errors: ETL_HEADER_DUPLICATE, ETL_HEADER_AMBIGUOUS. */
export const checkUnique = (
  needed: readonly FieldRef[],
  fields: FileFields,
  match: Dialect['match'],
  at: HeaderPosition,
): void => {
  for (const ref of needed) {
    const indexes = fields.indexesOf(ref);
    if (indexes.length > 1) throw ambiguous(fields, ref, indexes, match, at);
  }
};
