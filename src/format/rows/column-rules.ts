// Tests a column's rules on texts that its type has read.

import type { ColumnRule, ColumnSpec, RuleOf } from '../../core/declaration.ts';
import { firstOf, plural } from '../../core/wording.ts';
import { compareOf } from '../types/order.ts';
import { bare } from '../types/refusal.ts';
import { typeOf } from '../types/registry.ts';
import { countCharacters } from '../types/text.ts';

/** `message` completes the sentence "the value …". */
interface RuleTest {
  readonly test: (text: string) => boolean;
  readonly message: string;
}

const lengthMessage = (min: number, max: number | null): string => {
  if (max === null) return `must have at least ${plural(min, 'character')}`;
  if (min === max) return `must have ${plural(min, 'character')}`;
  return min === 0
    ? `must have at most ${plural(max, 'character')}`
    : `must have ${min} to ${plural(max, 'character')}`;
};

const valuesShownMax = 8;

type RuledColumn = Pick<ColumnSpec, 'type' | 'options'>;

/** Tests `.oneOf`. Types without an order compare JavaScript values, not spellings. */
const isAnyOf = (values: readonly string[], { type, options }: RuledColumn): ((text: string) => boolean) => {
  const known = typeOf({ type });
  const compareTo = compareOf(known, options);
  const valueOf = (text: string): unknown => (compareTo === undefined ? known.toValue(text, options) : text);
  const wanted = new Set(values.map(valueOf));
  const comparisons = compareTo === undefined ? [] : values.map(compareTo);
  return (text) => wanted.has(valueOf(text)) || comparisons.some((compare) => compare(text) === 0);
};

const compareWith = ({ type, options }: RuledColumn, bound: string): ((text: string) => number) =>
  compareOf(typeOf({ type }), options)!(bound);

const tests: {
  readonly [Kind in ColumnRule['kind']]: (rule: RuleOf<Kind>, column: RuledColumn) => RuleTest;
} = {
  min: ({ bound }, column) => {
    const compare = compareWith(column, bound);
    return { test: (text) => compare(text) >= 0, message: `must be at least ${bare(bound)}` };
  },
  max: ({ bound }, column) => {
    const compare = compareWith(column, bound);
    return { test: (text) => compare(text) <= 0, message: `must be at most ${bare(bound)}` };
  },
  oneOf: ({ values }, column) => ({
    test: isAnyOf(values, column),
    message: `must be one of ${firstOf(values.map(bare), valuesShownMax).join(', ')}`,
  }),
  pattern: ({ pattern }) => {
    // A copy, because matching changes a global RegExp, which the user's code may share.
    const own = new RegExp(pattern);
    return { test: (text) => own.test(text), message: `must match ${String(pattern)}` };
  },
  length: ({ min, max }) => ({
    test: (text) => {
      const characters = countCharacters(text);
      return characters >= min && (max === null || characters <= max);
    },
    message: lengthMessage(min, max),
  }),
};

export const ruleTests = (column: RuledColumn & Pick<ColumnSpec, 'rules'>): readonly RuleTest[] =>
  column.rules.map((rule) => tests[rule.kind](rule as never, column));
