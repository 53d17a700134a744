// The data tests of tables, as they are written and checked.

import { z } from 'zod';
import { isText } from '../../format/column-types/reading/order.ts';
import { typeOf, type ColumnTypeName } from '../../format/column-types/registry.ts';
import type { Asked, TestDefinition } from '../../check/contract.ts';
import { testKinds } from '../../check/registry.ts';
import { severities, type TestSpec } from '../../data-test.ts';
import type { ColumnSpec, TableSpec } from '../../declaration.ts';
import { publishedColumns } from '../../publish/tables.ts';
import { valueText } from './declared-values.ts';
import { addProblem, mustBe, mustBeOneOf, parsePart, show, strict, type Problems } from './problems.ts';
import { limitSchema } from '../declare/share.ts';
import { checkColumnNames } from './table-checks.ts';

/** Many tests of a table are columns of one query, of which the server allows 1,664. */
const testsMax = 500;

const nameMust = mustBe('a text of 1 to 200 characters');
const optionsSchema = strict(
  {
    severity: z.enum(severities, mustBeOneOf(severities)).default('error'),
    max: limitSchema('rows').default({ kind: 'count', records: 0 }),
    name: z.string(nameMust).min(1, nameMust).max(200, nameMust).optional(),
  },
  "an object such as { severity: 'warn', max: '0.1%' }",
);

const timeTypes = new Set(['date', 'timestamp', 'timestamptz']);

/** Columns as far as they are declared; undefined where SQL makes them. */
const columnsOf = (
  spec: TableSpec,
): readonly (Pick<ColumnSpec, 'name'> & Partial<ColumnSpec>)[] | undefined => {
  if (spec.kind === 'derived' || spec.staging === 'text') return spec.row;
  const { publish } = spec;
  const to = typeof publish === 'object' && publish.mode === 'history' ? [{ name: publish.to }] : [];
  return [...publishedColumns(spec), ...to];
};

/** A value where nobody knows its column's type before the server. */
const anyText = (what: string, value: unknown, add: Asked['add']): string | undefined => {
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  add(`${what} must be a text, a number or a boolean, not ${show(value)}`);
  return undefined;
};

const askedOf = (spec: TableSpec, where: string, tables: Asked['tables'], problems: Problems): Asked => {
  const typed = (name: string): ColumnSpec | undefined => {
    const column = columnsOf(spec)?.find((one) => one.name === name);
    return column?.type === undefined || column.type === 'of' ? undefined : (column as ColumnSpec);
  };
  const add = (problem: string): void => addProblem(problems, where, problem);
  return {
    add,
    tables,
    column: (name) => {
      const column = typed(name);
      if (column === undefined) return undefined;
      const type = typeOf(column);
      const isTime = timeTypes.has(column.type);
      return { isText: isText(type, column.options), isTime, isOrdered: type.order !== undefined };
    },
    text: (what, name, value) => {
      const column = typed(name);
      if (column === undefined) return anyText(what, value, add);
      return valueText(what, column.type as ColumnTypeName, column.options, value, where, problems);
    },
  };
};

const testSpec = (
  input: unknown,
  place: number,
  spec: TableSpec,
  tables: Asked['tables'],
  problems: Problems,
): TestSpec | undefined => {
  const written = input as Partial<TestDefinition> | null | undefined;
  const kind = written?.kind === 'test' ? testKinds[written.test!] : undefined;
  if (kind === undefined) {
    addProblem(
      problems,
      `table ${spec.name}, test ${place}`,
      "must be made with expect, such as expect.unique('id')",
    );
    return undefined;
  }
  const { test, columns, of, options } = written as TestDefinition;
  const where = `table ${spec.name}, test ${place} (${test})`;
  const before = problems.length;
  const given = parsePart(optionsSchema, options, where, problems);
  if (columns.some((name) => typeof name !== 'string' || name === ''))
    addProblem(problems, where, 'needs names of columns');
  else
    checkColumnNames(
      where,
      columns,
      columnsOf(spec)?.map(({ name }) => name),
      problems,
    );
  if (problems.length > before) return undefined;
  const read = kind.read({ columns, of }, askedOf(spec, where, tables, problems));
  if (given === undefined || read === undefined || problems.length > before) return undefined;
  const { severity, max } = given;
  const about = kind.about?.({ of: read }) ?? columns.join(', ');
  const name = given.name ?? (about === '' ? test : `${test}(${about})`);
  return { kind: test, name, columns, of: read, severity, max };
};

const checkNames = (table: string, tests: readonly TestSpec[], problems: Problems): void => {
  const names = tests.map(({ name }) => name);
  for (const twice of new Set(names.filter((name, place) => names.indexOf(name) !== place)))
    addProblem(
      problems,
      `table ${table}`,
      `two tests are called ${twice}; give one another name with { name: '…' }`,
    );
};

/** The tables with their tests, which may refer to each other; problems are added. `written`: the tables as they are written. */
export const withTests = (
  specs: readonly TableSpec[],
  written: Readonly<Record<string, unknown>>,
  problems: Problems,
): readonly TableSpec[] => {
  const tables = new Map(specs.map((spec) => [spec.name, columnsOf(spec)?.map(({ name }) => name)]));
  return specs.map((spec) => {
    const { tests = [] } = written[spec.name] as { readonly tests?: readonly unknown[] };
    if (tests.length > testsMax)
      addProblem(problems, `table ${spec.name}`, `has ${tests.length} tests, and ${testsMax} are allowed`);
    const checked = tests.flatMap((test, place) => testSpec(test, place + 1, spec, tables, problems) ?? []);
    checkNames(spec.name, checked, problems);
    // Left out, so that adding the option changed nothing.
    return checked.length === 0 ? spec : { ...spec, tests: checked };
  });
};
