// Values in a declaration (defaults, bounds) as the texts that loading uses.

import type { ColumnOptions } from '../../declaration.ts';
import { isRefusal } from '../../format/column-types/contract.ts';
import { canonicalReader, typeOf, type ColumnTypeName } from '../../format/column-types/registry.ts';
import { addProblem, show, type Problems } from './problems.ts';

/** The text of a value of the type, or undefined and a problem; `what` names the value. */
export const valueText = (
  what: string,
  type: ColumnTypeName,
  options: ColumnOptions,
  value: unknown,
  where: string,
  problems: Problems,
): string | undefined => {
  const known = typeOf({ type });
  const written = known.fromValue(value);
  const must = `${what} must be a value of type ${known.sql(options)}${type === 'of' ? ', as a text' : ''}`;
  if (written === undefined) {
    addProblem(problems, where, `${must}, not ${show(value)}`);
    return undefined;
  }
  const read = canonicalReader(known, options)(written);
  if (!isRefusal(read)) return read;
  addProblem(problems, where, `${must}, not ${show(value)}: ${read.reason}`);
  return undefined;
};
