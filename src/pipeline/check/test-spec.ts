// Checks the data tests of tables.

import { isText } from '../../format/types/order.ts';
import { typeOf } from '../../format/types/registry.ts';
import type { Asked, TestDefinition } from '../../publish/data-tests/contract.ts';
import { testKinds } from '../../publish/data-tests/registry.ts';
import { severities, type TestSpec } from '../../core/data-test.ts';
import type { ColumnSpec, TableSpec } from '../../core/declaration.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { limitSchema } from '../declare/share.ts';
import { timeTypes, valueText } from './declared-values.ts';
import { choice, mustBe, show, strict, text, type Problems } from '../problems.ts';
import { checkColumnNames } from './table-checks.ts';

/** Most tests of a table. Each has some columns of one query, which can have at most 1,664. */
const testsMax = 500;

const nameText = 'a text of 1 to 200 characters';
const optionsSchema = strict(
  {
    severity: choice(severities).default('error'),
    max: limitSchema('rows').default({ kind: 'count', records: 0 }),
    name: text(nameText).max(200, mustBe(nameText)).optional(),
  },
  "an object such as { severity: 'warn', max: '0.1%' }",
);

/** Returns a table's columns; undefined if SQL makes them and no `row` declares them. */
const columnsOf = (
  spec: TableSpec,
): readonly (Pick<ColumnSpec, 'name'> & Partial<ColumnSpec>)[] | undefined => {
  if (spec.kind === 'derived' || spec.staging === 'text') return spec.row;
  const { versions } = meaningOf(spec.publish);
  return [...publishedColumns(spec), ...(versions === undefined ? [] : [{ name: versions.to }])];
};

const anyText = (what: string, value: unknown, problems: Problems): string | undefined =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
    ? String(value)
    : problems.add(`${what} must be a text, a number or a boolean, not ${show(value)}`);

const askedOf = (spec: TableSpec, tables: Asked['tables'], problems: Problems): Asked => {
  const typed = (name: string): ColumnSpec | undefined => {
    const column = columnsOf(spec)?.find((one) => one.name === name);
    return column?.type === undefined || column.type === 'of' ? undefined : (column as ColumnSpec);
  };
  return {
    add: (problem) => problems.add(problem),
    tables,
    column: (name) => {
      const column = typed(name);
      if (column === undefined) return undefined;
      const type = typeOf(column);
      const isTime = timeTypes.includes(column.type);
      return { isText: isText(type, column.options), isTime, isOrdered: type.order !== undefined };
    },
    text: (what, name, value) => {
      const column = typed(name);
      return column === undefined ? anyText(what, value, problems) : valueText(what, column, value, problems);
    },
  };
};

const testSpec = (
  input: unknown,
  index: number,
  spec: TableSpec,
  tables: Asked['tables'],
  ofTable: Problems,
): TestSpec | undefined => {
  const written = input as Partial<TestDefinition> | null | undefined;
  const kind = written?.kind === 'test' ? testKinds[written.test!] : undefined;
  if (kind === undefined)
    return ofTable.at(`test ${index}`).add("must be made with expect, such as expect.unique('id')");
  const { test, columns, of, options } = written as TestDefinition;
  const problems = ofTable.at(`test ${index} (${test})`);
  const before = problems.count;
  const given = problems.parse(optionsSchema, options);
  if (columns.some((name) => typeof name !== 'string' || name === '')) problems.add('needs names of columns');
  else checkColumnNames(columns, tables.get(spec.name), problems);
  if (problems.count > before) return undefined;
  const read = kind.read({ columns, of }, askedOf(spec, tables, problems));
  if (given === undefined || read === undefined || problems.count > before) return undefined;
  const { severity, max } = given;
  const about = kind.about?.({ of: read }) ?? columns.join(', ');
  const name = given.name ?? (about === '' ? test : `${test}(${about})`);
  return { kind: test, name, columns, of: read, severity, max };
};

const checkNames = (tests: readonly TestSpec[], problems: Problems): void => {
  const names = tests.map(({ name }) => name);
  for (const twice of new Set(names.filter((name, index) => names.indexOf(name) !== index)))
    problems.add(`two tests are called ${twice}; give one another name with { name: '…' }`);
};

/** Adds the declared tests to tables. All tables are checked first: a test can name another. */
export const withTests = (
  specs: readonly TableSpec[],
  written: Readonly<Record<string, unknown>>,
  problems: Problems,
): readonly TableSpec[] => {
  const tables = new Map(specs.map((spec) => [spec.name, columnsOf(spec)?.map(({ name }) => name)]));
  return specs.map((spec) => {
    const { tests = [] } = written[spec.name] as { readonly tests?: readonly unknown[] };
    const here = problems.at(`table ${spec.name}`);
    if (tests.length > testsMax) here.add(`has ${tests.length} tests, and ${testsMax} are allowed`);
    const checked = tests.flatMap((test, index) => testSpec(test, index + 1, spec, tables, here) ?? []);
    checkNames(checked, here);
    // Without tests, there is no key: even an undefined key would change the table's hash.
    return checked.length === 0 ? spec : { ...spec, tests: checked };
  });
};
