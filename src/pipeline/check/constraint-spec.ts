// Checks the declared constraints of a table: checks, unique and foreignKeys.

import { z } from 'zod';
import type { ConstraintSpec } from '../../core/constraint.ts';
import type { PartitionSpec } from '../../core/declaration.ts';
import { foreignKeysSchema, foreignKeysOf } from './foreign-key-spec.ts';
import type { Known } from './declared-values.ts';
import { defaultName, nameProblem } from '../names.ts';
import { mustBe, oneOrMore, strict, text, type Problems } from '../problems.ts';
import { checkColumnNames, checkHoldsPartition } from './table-checks.ts';

const columnsText = "a column, a list of columns, or { columns: […], name: '…' }";
const name = text(columnsText);
const columns = oneOrMore(name, columnsText);

export const constraintShape = {
  checks: z
    .record(
      z.string(),
      text("an SQL condition, such as 'price >= 0'"),
      mustBe('an object of SQL conditions by name'),
    )
    .default({}),
  unique: z
    .array(
      z.union(
        [
          columns.transform((list) => ({ columns: list, name: undefined })),
          strict({ columns, name: name.optional() }),
        ],
        mustBe(columnsText),
      ),
      mustBe('a list of columns or lists of columns'),
    )
    .default([]),
  foreignKeys: foreignKeysSchema,
};

type Written = { readonly [Key in keyof typeof constraintShape]: z.output<(typeof constraintShape)[Key]> };

const constraintsOf = (
  table: string,
  { checks, unique, foreignKeys }: Written,
): readonly ConstraintSpec[] => [
  ...Object.entries(checks).map(([key, condition]) => ({ kind: 'check' as const, name: key, condition })),
  ...unique.map((one) => ({
    kind: 'unique' as const,
    name: one.name ?? defaultName([table, ...one.columns], 'key'),
    columns: one.columns,
  })),
  ...foreignKeysOf(table, foreignKeys),
];

export const readConstraints = (
  table: string,
  written: Written & { readonly partitionBy?: PartitionSpec | undefined },
  known: Known,
  problems: Problems,
): { readonly constraints?: readonly ConstraintSpec[] } => {
  const constraints = constraintsOf(table, written);
  const names = new Set([`${table}_pkey`]);
  for (const constraint of constraints) {
    const here = problems.at(`${constraint.kind} ${constraint.name}`);
    here.add(nameProblem(constraint.name), 'the name');
    if (names.has(constraint.name))
      here.add('the name is taken by another constraint of the table; choose another');
    names.add(constraint.name);
    if (constraint.kind === 'check') continue;
    checkColumnNames(constraint.columns, known, here);
    if (constraint.kind === 'unique') checkHoldsPartition(constraint.columns, written.partitionBy, here);
  }
  // Without constraints, there is no key: even an undefined key would change the table's hash.
  return constraints.length === 0 ? {} : { constraints };
};
