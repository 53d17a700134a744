// Declared filters: which records are wanted at all.

import type { Dialect, FilterSpec } from '../declaration.ts';
import { trimBlanks } from './field-reader.ts';

/** True when the record is wanted. */
export type RecordFilter = (fields: readonly string[]) => boolean;

const isBlank = (text: string | null): boolean => text === null || text === '';

const everyRecord: RecordFilter = () => true;

/** Makes one test of all filters of a table; all must hold. Filters see trimmed fields, null tokens as null. */
export const createRecordFilter = (
  filters: readonly FilterSpec[],
  header: readonly string[],
  dialect: Dialect,
): RecordFilter => {
  if (filters.length === 0) return everyRecord;
  const nulls = new Set(dialect.nulls);
  const valueOf = (fields: readonly string[], name: string): string | null => {
    const field = fields[header.indexOf(name)];
    if (field === undefined) return null;
    const text = trimBlanks(field);
    return nulls.has(text) || nulls.has(field) ? null : text;
  };
  const tests = filters.map((filter): RecordFilter => {
    if (filter.kind === 'present') return (fields) => !isBlank(valueOf(fields, filter.header));
    if (filter.kind === 'when')
      return (fields) =>
        filter.test(Object.fromEntries(filter.headers.map((name) => [name, valueOf(fields, name)])));
    const wanted = new Set(filter.values);
    return (fields) => {
      const value = valueOf(fields, filter.header);
      return value !== null && wanted.has(value);
    };
  });
  return (fields) => tests.every((test) => test(fields));
};
