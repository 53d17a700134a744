// Checks generated and identity columns, which the server fills.

import { z } from 'zod';
import type { ServerColumnSpec } from '../../core/shape.ts';
import type { PartitionSpec } from '../../core/declaration.ts';
import { serverColumnOf } from '../declare/server-column.ts';
import { columnNameProblem } from '../names.ts';
import { choice, text, type Problems } from '../problems.ts';

const schema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('generated'),
    type: text('an SQL type, such as numeric(12,2)'),
    expression: text('an SQL expression, such as price * pieces'),
  }),
  z.object({ kind: z.literal('identity'), when: choice(['always', 'by default']) }),
]);

export const isOfFiles = (column: unknown): boolean => serverColumnOf(column) === undefined;

export const readServerColumns = (
  columns: object | undefined,
  partitionBy: PartitionSpec | undefined,
  problems: Problems,
): readonly ServerColumnSpec[] | undefined => {
  const specs = Object.entries(columns ?? {}).flatMap(([name, column]): readonly ServerColumnSpec[] => {
    const state = serverColumnOf(column);
    if (state === undefined) return [];
    const here = problems.at(`column ${name}`);
    here.add(columnNameProblem(name), 'the name');
    if (state.kind === 'identity' && partitionBy !== undefined)
      here.add(
        'an identity column needs a table without partitionBy, because partitions cannot have one before PostgreSQL 17; remove one of the two',
      );
    const read = here.parse(schema, state);
    return read === undefined ? [] : [{ name, ...read }];
  });
  return specs.length === 0 ? undefined : specs;
};
