// Checks the rules of a column (min, max, oneOf, pattern, length): that they fit its type, and that
// min is not above max.

import { z } from 'zod';
import type { ColumnRule } from '../../core/declaration/declaration.ts';
import { compareOf, isText } from '../../format/types/order.ts';
import { typeOf } from '../../format/types/registry.ts';
import type { ColumnState } from '../declare/column.ts';
import { valueText, type TypedColumn } from './declared-values.ts';
import { mustBe, wholeNumber, type Problems } from '../problems.ts';

const characters = wholeNumber('a number of characters', 0);
const lengthMust = mustBe('a number of characters, or an object such as { min: 1, max: 80 }');
const lengthSchema = z
  .union(
    [
      characters.transform((exactly) => ({ min: exactly, max: exactly })),
      z
        .strictObject({ min: characters.optional(), max: characters.optional() }, lengthMust)
        .refine(({ min, max }) => min !== undefined || max !== undefined, lengthMust),
    ],
    lengthMust,
  )
  .refine(({ min = 0, max = Infinity }) => min <= max, 'has a min above its max: no text would pass');

const patternMust = mustBe('a RegExp without the flags g and y');
const patternSchema = z
  .instanceof(RegExp, patternMust)
  .refine(({ global, sticky }) => !global && !sticky, patternMust);

const valuesMust = mustBe('a list of at least one value');
const valuesSchema = z.array(z.unknown(), valuesMust).min(1, valuesMust);

/** Returns why the column's type does not allow the rule `kind`, or undefined if it does. */
const misfit = (kind: string, column: TypedColumn): string | undefined => {
  const type = typeOf(column);
  if (kind === 'oneOf')
    return type.value(column.options).kind === 'any' ? 'does not compare values' : undefined;
  if (kind !== 'min' && kind !== 'max') return isText(type, column.options) ? undefined : 'is not a text';
  if (type.order !== undefined) return undefined;
  return isText(type, column.options) ? 'has no order; .length limits its characters' : 'has no order';
};

const readRule = (
  { kind, value }: ColumnState['rules'][number],
  column: TypedColumn,
  problems: Problems,
): ColumnRule | undefined => {
  const problem = misfit(kind, column);
  if (problem !== undefined)
    return problems.add(
      `does not apply to this column: ${typeOf(column).sql(column.options)} ${problem}`,
      kind,
    );
  switch (kind) {
    case 'pattern': {
      const pattern = problems.parse(patternSchema, value, kind);
      return pattern && { kind, pattern };
    }
    case 'length': {
      const length = problems.parse(lengthSchema, value, kind);
      return length && { kind, min: length.min ?? 0, max: length.max ?? null };
    }
    case 'oneOf': {
      const values = problems
        .parse(valuesSchema, value, kind)
        ?.map((one, index) => valueText(`${kind}[${index}]`, column, one, problems));
      return values?.every((one) => one !== undefined) ? { kind, values } : undefined;
    }
    default: {
      const bound = valueText(kind, column, value, problems);
      if (bound === undefined) return undefined;
      return kind === 'min' ? { kind, bound } : { kind: 'max', bound };
    }
  }
};

/** Refuses a min above a max, and bounds with which no value can be compared, such as NaN. */
const checkBounds = (rules: readonly ColumnRule[], column: TypedColumn, problems: Problems): void => {
  const compareTo = compareOf(typeOf(column), column.options);
  const boundsOf = (kind: 'min' | 'max'): string[] =>
    rules.flatMap((rule) => (rule.kind === kind ? [rule.bound] : []));
  const [mins, maxs] = [boundsOf('min'), boundsOf('max')];
  const incomparable = [...mins, ...maxs].find((bound) => compareTo!(bound)(bound) !== 0);
  if (incomparable !== undefined)
    problems.add(`${incomparable} is not a bound, because no value can be compared with it`);
  for (const min of mins)
    for (const max of maxs)
      if (compareTo!(max)(min) > 0) problems.add(`min ${min} is above max ${max}: no value would pass`);
};

/** Returns the checked rules, or undefined with problems added if one of them is not valid. */
export const columnRules = (
  written: ColumnState['rules'],
  column: TypedColumn,
  problems: Problems,
): readonly ColumnRule[] | undefined => {
  const rules = written.flatMap((rule) => readRule(rule, column, problems) ?? []);
  if (rules.length < written.length) return undefined;
  checkBounds(rules, column, problems);
  return rules;
};
