// Helpers for the tests of mistakes in declarations: definitions to vary, and their problems.

import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, sqlFile } from '../../../src/pipeline/authoring.ts';
import { refusalOf } from '../../helpers/failure.ts';

// Without types, because the tests make mistakes that the compiler would refuse.
export const define = definePipeline as (definition: unknown) => unknown;
export const js = column as unknown as Record<string, (...args: unknown[]) => unknown>;
const looseCsv = csv as (...args: unknown[]) => unknown;
const looseIndex = index as (...args: unknown[]) => unknown;

export const columns = { wban: column.text('WBAN'), wind: column.smallint('Wind').nullable() };
export const source = csv('a.csv');
export const sql = sqlFile('a.sql');

const problemsOf = (definition: unknown): readonly string[] => {
  const { code, details } = refusalOf(() => define(definition));
  expect(code).toBe('ETL_DEFINITION');
  return String(details.problems).split('\n  ').slice(1);
};

export const knownTypes =
  'known types: text, varchar, smallint, integer, bigint, real, double, numeric, boolean, date, time, timestamp, ' +
  'timestamptz, uuid, json, jsonb, bytea, of';

/** A table instead of `obs`. */
export const withTable = (table: object): object => ({
  name: 'noaa',
  schema: 'noaa',
  tables: { obs: table },
});
export const withColumn = (made: unknown): object => withTable({ source, columns: { wind: made } });
export const withCsv = (...args: unknown[]): object => withTable({ source: looseCsv(...args), columns });
export const withIndex = (args: unknown[]): object => withKeys({ indexes: [looseIndex(...args)] });
/** The table `obs` with other keys. */
export const withKeys = (keys: object): object => withTable({ source, columns, ...keys });
export const good = withKeys({});

/** What is given, and the problems of the definition with it, without what all of them begin with. */
type Mistake<Given> = readonly [given: Given, ...problems: readonly string[]];

/** A suite of mistakes, each named by its first problem. */
export const describeMistakes = <Given>(
  name: string,
  definitionOf: (given: Given) => unknown,
  before: string,
  mistakes: readonly Mistake<Given>[],
): void => {
  describe(name, () => {
    it.each(mistakes.map(([given, ...problems]) => ({ name: problems[0], given, problems })))(
      '$name',
      ({ given, problems }) =>
        expect(problemsOf(definitionOf(given))).toEqual(
          problems.map((problem) => (typeof problem === 'string' ? before + problem : problem)),
        ),
    );
  });
};
