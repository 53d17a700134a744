// Reads one column from a record's fields.

import type { ColumnSpec, Dialect } from '../../core/declaration.ts';
import { onOneLine } from '../../core/wording.ts';
import { canonicalReader, typeOf } from '../types/registry.ts';
import { quoted } from '../types/refusal.ts';
import { trimBlanks } from '../records/blanks.ts';
import { isOneOf, nullsOfField } from '../records/null-tokens.ts';
import { createRecordFilter } from './record-filter.ts';
import { booleanText } from '../types/boolean.ts';
import type { FileFields } from '../records/file-fields.ts';
import { isRefusal, type Reader, type Refusal } from '../types/contract.ts';
import { ruleTests } from './column-rules.ts';

export type FieldReader = (fields: readonly (string | undefined)[], line?: number) => string | null | Refusal;

const sourceText = (
  indexes: readonly number[],
  separator: string,
  dialect: Dialect,
  nulls: readonly string[],
  textAt: FileFields['textAt'],
): ((fields: readonly (string | undefined)[]) => string | null) => {
  const one = (index: number) => {
    const ofFile = textAt(index);
    const isNull = isOneOf([...nullsOfField(dialect, ofFile), ...nulls]);
    return (fields: readonly (string | undefined)[]): string | null => {
      const field = ofFile ?? fields[index];
      // The file lacks the field, the record is padded, or the field is an unquoted null.
      if (field === undefined) return null;
      const text = dialect.trim === true ? trimBlanks(field) : field;
      return isNull(text) ? null : text;
    };
  };
  if (indexes.length === 1) return one(indexes[0]!);
  const parts = indexes.map(one);
  return (fields) => {
    let glued: string | undefined;
    for (const part of parts) {
      const text = part(fields);
      if (text === null) return null;
      glued = glued === undefined ? text : glued + separator + text;
    }
    return glued!;
  };
};

export const withChecks = (
  column: ColumnSpec,
  read: Reader,
  reasonOf: (problem: string, source: string) => string = (problem) => problem,
): Reader => {
  const { checks, schema, options } = column;
  const rules = ruleTests(column);
  if (rules.length === 0 && checks.length === 0 && schema === undefined) return read;
  const type = typeOf(column);
  const readCanonical = canonicalReader(type, options);
  const refuse = (problem: string, source: string): Refusal => ({
    code: 'check',
    reason: reasonOf(problem, source),
  });
  return (source) => {
    const text = read(source);
    if (isRefusal(text)) return text;
    for (const { test, message } of rules) if (!test(text)) return refuse(message, source);
    if (checks.length === 0 && schema === undefined) return text;
    const value = type.toValue(text, options);
    for (const { test, message } of checks) if (!test(value as never)) return refuse(message, source);
    if (schema === undefined) return text;
    const parsed = schema.safeParse(value);
    if (!parsed.success) return refuse(parsed.error.issues.map(({ message }) => message).join('; '), source);
    if (Object.is(parsed.data, value)) return text;
    const changed = type.fromValue(parsed.data);
    return changed === undefined
      ? refuse(`the schema returned a value that is not a ${type.sql(options)}`, source)
      : readCanonical(changed);
  };
};

/** Order: tokens, map, type, rules, checks, schema. A null from `map` means a missing value. */
export const createTextReader = (column: ColumnSpec): ((text: string) => string | null | Refusal) => {
  const { map } = column;
  const read = withChecks(
    column,
    typeOf(column).reader(column.options),
    (problem, source) => `${quoted(source)}: ${onOneLine(problem)}`,
  );
  const readMapped =
    map === undefined
      ? read
      : (text: string): string | null | Refusal => {
          const mapped = map(text);
          return mapped === null ? missingValue(column) : read(mapped);
        };
  const tokens = new Map(Object.entries(column.tokens));
  return tokens.size === 0 ? readMapped : (text) => readMapped(tokens.get(text) ?? text);
};

const missingValue = (column: ColumnSpec): string | null | Refusal =>
  column.default ??
  (column.nullable
    ? null
    : { code: 'not_null', reason: 'the value is missing and the column is not nullable' });

export const createFieldReader = (column: ColumnSpec, fields: FileFields, dialect: Dialect): FieldReader => {
  if (column.lineage !== undefined) {
    const ofFile = fields.lineage[column.lineage];
    return (_, line = 0) => ofFile ?? String(line);
  }
  if (column.test !== undefined) {
    const isTrue = createRecordFilter(column.test, fields, dialect);
    return (record) => booleanText(isTrue(record));
  }
  const indexes = column.headers.map(fields.indexOf);
  const text = sourceText(indexes, column.separator, dialect, column.nulls, fields.textAt);
  const read = createTextReader(column);
  const missing = missingValue(column);
  return (record) => {
    const source = text(record);
    return source === null ? missing : read(source);
  };
};
