// Helpers for the tests of mistakes in declarations: definitions to vary, and their problems.

import { expect } from 'vitest';
import { column, csv, definePipeline, index, sqlFile } from '../../../src/pipeline/authoring.ts';
import { EtlError } from '../../../src/core/errors/errors.ts';

// Without types, because the tests make mistakes that the compiler would refuse.
const define = definePipeline as (definition: unknown) => unknown;
export const js = column as unknown as Record<string, (...args: unknown[]) => unknown>;
const looseCsv = csv as (...args: unknown[]) => unknown;
const looseIndex = index as (...args: unknown[]) => unknown;

export const columns = { wban: column.text('WBAN'), wind: column.smallint('Wind').nullable() };
export const source = csv('a.csv');
export const sql = sqlFile('a.sql');

export const problemsOf = (definition: unknown): string[] => {
  try {
    define(definition);
  } catch (error) {
    expect(error).toBeInstanceOf(EtlError);
    expect((error as EtlError).code).toBe('ETL_DEFINITION');
    return String((error as EtlError).details.problems)
      .split('\n  ')
      .slice(1);
  }
  return [];
};

export const knownTypes =
  'known types: text, varchar, smallint, integer, bigint, real, double, numeric, boolean, date, time, timestamp, ' +
  'timestamptz, uuid, json, jsonb, of';

export const withTable = (table: object): unknown => ({
  name: 'noaa',
  schema: 'noaa',
  tables: { obs: table },
});
export const withColumn = (made: unknown): unknown => withTable({ source, columns: { wind: made } });
export const withCsv = (...args: unknown[]): unknown => withTable({ source: looseCsv(...args), columns });
export const withIndex = (...args: unknown[]): unknown =>
  withTable({ source, columns, indexes: [looseIndex(...args)] });
export const good = withTable({ source, columns });

export interface Case {
  readonly name: string;
  readonly definition: unknown;
  readonly problems: readonly string[];
}
