// Declared filters: which records to load.

import type { Dialect, FieldRef, FilterSpec } from '../../core/declaration.ts';
import { mainName, type FileFields } from '../records/file-fields.ts';
import { trimBlanks } from '../records/blanks.ts';
import { isOneOf, nullsOfField } from '../records/null-tokens.ts';

type RecordFilter = (fields: readonly (string | undefined)[]) => boolean;

const isBlank = (text: string | null): boolean => text === null || text === '';

/** Calls the user's function with a new object, a copy of `names` to allow a field `__proto__`. */
const whenFilter = (
  { headers, test }: Extract<FilterSpec, { kind: 'when' }>,
  valueOf: (ref: FieldRef) => (fields: readonly (string | undefined)[]) => string | null,
): RecordFilter => {
  const values = headers.map((ref) => [mainName(ref), valueOf(ref)] as const);
  const names: Readonly<Record<string, string | null>> = Object.fromEntries(
    headers.map((ref) => [mainName(ref), null]),
  );
  return (fields) => {
    const named = { ...names };
    for (const [name, value] of values) named[name] = value(fields);
    return test(named);
  };
};

const everyRecord: RecordFilter = () => true;

/** Combines filters, which must all hold. They see trimmed fields, and null tokens as null. */
export const createRecordFilter = (
  filters: readonly FilterSpec[],
  { indexOf, textAt }: FileFields,
  dialect: Dialect,
): RecordFilter => {
  if (filters.length === 0) return everyRecord;
  const valueOf = (ref: FieldRef): ((fields: readonly (string | undefined)[]) => string | null) => {
    const index = indexOf(ref);
    const ofFile = textAt(index);
    const isNull = isOneOf(nullsOfField(dialect, ofFile));
    return (fields) => {
      const field = ofFile ?? fields[index];
      if (field === undefined) return null;
      const text = trimBlanks(field);
      return isNull(text) || (text !== field && isNull(field)) ? null : text;
    };
  };
  const tests = filters.map((filter): RecordFilter => {
    if (filter.kind === 'when') return whenFilter(filter, valueOf);
    const value = valueOf(filter.header);
    if (filter.kind === 'present') return (fields) => !isBlank(value(fields));
    const isWanted = isOneOf(filter.values);
    return (fields) => {
      const text = value(fields);
      return text !== null && isWanted(text);
    };
  });
  if (tests.length === 1) return tests[0]!;
  return (fields) => tests.every((test) => test(fields));
};
