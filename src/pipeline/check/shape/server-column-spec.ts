// The columns of a table that the server fills, as they are checked.

import { z } from 'zod';
import type { ServerColumnSpec } from '../../../shape.ts';
import type { PartitionSpec } from '../../../declaration.ts';
import { serverColumnOf } from '../../declare/server-column.ts';
import { columnNameProblem } from '../names.ts';
import { addProblem, mustBe, mustBeOneOf, parsePart, type Problems } from '../problems.ts';

const typeMust = mustBe('an SQL type, such as numeric(12,2)');
const expressionMust = mustBe('an SQL expression, such as price * pieces');
const whens = ['always', 'by default'] as const;

const schema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('generated'),
    type: z.string(typeMust).min(1, typeMust),
    expression: z.string(expressionMust).min(1, expressionMust),
  }),
  z.object({ kind: z.literal('identity'), when: z.enum(whens, mustBeOneOf(whens)) }),
]);

/** Whether a file has values of a column. */
export const isOfFiles = (column: unknown): boolean => serverColumnOf(column) === undefined;

/** Those of a table, in the order of the declaration, where there are any; problems are added. */
export const readServerColumns = (
  where: string,
  columns: unknown,
  partitionBy: PartitionSpec | undefined,
  problems: Problems,
): readonly ServerColumnSpec[] | undefined => {
  const written = typeof columns === 'object' && columns !== null ? Object.entries(columns) : [];
  const specs = written.flatMap(([name, column]): readonly ServerColumnSpec[] => {
    const state = serverColumnOf(column);
    if (state === undefined) return [];
    const at = `${where}, column ${name}`;
    const problem = columnNameProblem(name);
    if (problem !== undefined) addProblem(problems, at, `the name ${problem}`);
    if (state.kind === 'identity' && partitionBy !== undefined)
      addProblem(
        problems,
        at,
        'identity needs a table that is one whole: before PostgreSQL 17 partitions have none; remove it, or partitionBy',
      );
    const read = parsePart(schema, state, at, problems);
    return read === undefined ? [] : [{ name, ...read }];
  });
  return specs.length === 0 ? undefined : specs;
};
