// Checks the rules of a column as written: each fits its type, and some value passes them.

import { z } from 'zod';
import type { ColumnOptions, ColumnRule } from '../../declaration.ts';
import { compareOf, isText } from '../../format/column-types/reading/order.ts';
import { typeOf, type ColumnTypeName } from '../../format/column-types/registry.ts';
import type { ColumnState } from '../declare/column.ts';
import { valueText } from './declared-values.ts';
import { addProblem, mustBe, parsePart, type Problems } from './problems.ts';

const charactersMust = mustBe('a number of characters');
const characters = z.int(charactersMust).min(0, charactersMust);
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

/** The column whose rules are read. */
interface Ruled {
  readonly type: ColumnTypeName;
  readonly options: ColumnOptions;
  readonly where: string;
  readonly problems: Problems;
}

/** Why the column's type has no such rule; undefined when it has. */
const misfit = (kind: string, { type, options }: Ruled): string | undefined => {
  const known = typeOf({ type });
  if (kind === 'oneOf') return known.value(options).kind === 'any' ? 'does not compare values' : undefined;
  if (kind !== 'min' && kind !== 'max') return isText(known, options) ? undefined : 'is not a text';
  if (known.order !== undefined) return undefined;
  return isText(known, options) ? 'has no order; .length limits its characters' : 'has no order';
};

const readRule = ({ kind, value }: ColumnState['rules'][number], ruled: Ruled): ColumnRule | undefined => {
  const { type, options, where, problems } = ruled;
  const problem = misfit(kind, ruled);
  if (problem !== undefined) {
    addProblem(problems, where, `${kind} is not for this column: ${typeOf(ruled).sql(options)} ${problem}`);
    return undefined;
  }
  switch (kind) {
    case 'pattern': {
      const pattern = parsePart(patternSchema, value, where, problems, kind);
      return pattern && { kind, pattern };
    }
    case 'length': {
      const length = parsePart(lengthSchema, value, where, problems, kind);
      return length && { kind, min: length.min ?? 0, max: length.max ?? null };
    }
    case 'oneOf': {
      const values = parsePart(valuesSchema, value, where, problems, kind)?.map((one, index) =>
        valueText(`${kind}[${index}]`, type, options, one, where, problems),
      );
      return values?.every((one) => one !== undefined) ? { kind, values } : undefined;
    }
    default: {
      const bound = valueText(kind, type, options, value, where, problems);
      if (bound === undefined) return undefined;
      return kind === 'min' ? { kind, bound } : { kind: 'max', bound };
    }
  }
};

/** Says of bounds between which there is no value, and of one that nothing compares with. */
const checkBounds = (rules: readonly ColumnRule[], { type, options, where, problems }: Ruled): void => {
  const compareTo = compareOf(typeOf({ type }), options);
  const boundsOf = (kind: 'min' | 'max'): string[] =>
    rules.flatMap((rule) => (rule.kind === kind ? [rule.bound] : []));
  const [mins, maxs] = [boundsOf('min'), boundsOf('max')];
  const incomparable = [...mins, ...maxs].find((bound) => compareTo!(bound)(bound) !== 0);
  if (incomparable !== undefined)
    addProblem(problems, where, `${incomparable} is not a bound: nothing is less or more`);
  for (const min of mins)
    for (const max of maxs)
      if (compareTo!(max)(min) > 0)
        addProblem(problems, where, `min ${min} is above max ${max}: no value would pass`);
};

/** The checked rules, or undefined and the problems. */
export const columnRules = (
  written: ColumnState['rules'],
  type: ColumnTypeName,
  options: ColumnOptions,
  where: string,
  problems: Problems,
): readonly ColumnRule[] | undefined => {
  const ruled = { type, options, where, problems };
  const rules = written.flatMap((rule) => readRule(rule, ruled) ?? []);
  if (rules.length < written.length) return undefined;
  checkBounds(rules, ruled);
  return rules;
};
