// Checks the declaration of a column and returns its specification.

import type {
  ColumnCheck,
  ColumnOptions,
  ColumnSchema,
  ColumnSpec,
  ColumnRule,
} from '../../core/declaration.ts';
import { messageOf } from '../../core/errors/errors.ts';
import { isRefusal, type OptionShape } from '../../format/types/contract.ts';
import {
  canonicalReader,
  columnTypes,
  isTypeName,
  typeOf,
  type ColumnTypeName,
} from '../../format/types/registry.ts';
import { withChecks } from '../../format/rows/field-reader.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';
import { columnModifierNames, columnTypeNames, stateOf, type ColumnState } from '../declare/column.ts';
import { fieldsSchema } from '../field.ts';
import { valueText, type TypedColumn } from './declared-values.ts';
import { columnNameProblem } from '../names.ts';
import {
  boolean,
  functionSchema,
  mustBe,
  show,
  strict,
  text,
  texts,
  type Problems,
  wholeNumber,
} from '../problems.ts';
import { z } from 'zod';
import { compareOf, isText } from '../../format/types/order.ts';

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

const columnRules = (
  written: ColumnState['rules'],
  column: TypedColumn,
  problems: Problems,
): readonly ColumnRule[] | undefined => {
  const rules = written.flatMap((rule) => readRule(rule, column, problems) ?? []);
  if (rules.length < written.length) return undefined;
  checkBounds(rules, column, problems);
  return rules;
};

const tokens = z.record(z.string(), z.string(mustBe('a text')), mustBe('an object from text to text'));

/** Returns the schema of one option. The column type checks options against each other. */
const optionSchema = (shape: OptionShape): z.ZodType => {
  if (shape.takes === 'text')
    return shape.oneOf === undefined ? text(shape.must) : z.enum(shape.oneOf, mustBe(shape.must));
  if (shape.takes === 'text or texts') {
    const must = mustBe(shape.must);
    return z.union([text(shape.must), z.array(text(shape.must), must).min(1, must)], must);
  }
  if (shape.takes === 'texts') return texts;
  return shape.takes === 'flag' ? boolean : z.int(mustBe('a whole number'));
};

const separatorMust = "a text to put between fields, such as ' ', without NUL and unpaired surrogates";
const common = {
  nulls: texts.default([]),
  tokens: tokens.default({}),
  separator: text(separatorMust)
    .refine((written) => !/[\0\p{Surrogate}]/u.test(written), mustBe(separatorMust))
    .optional(),
};

const modifiersSchema = z.object({
  nulls: z.array(texts),
  tokens: z.array(tokens),
  map: functionSchema<(text: string) => string | null>('a function from text to text').optional(),
  checks: z.array(
    z.object({
      test: functionSchema<ColumnCheck['test']>('a function that gives true or false'),
      message: text('the reason that a rejected record shows'),
    }),
  ),
  schema: z
    .custom<ColumnSchema>((value) => value instanceof z.core.$ZodType, mustBe('a schema of Zod 4'))
    .optional(),
});

const otherNames: Readonly<Record<string, string>> = {
  string: 'text',
  char: 'varchar',
  int: 'integer',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float: 'double',
  number: 'numeric',
  decimal: 'numeric',
  bool: 'boolean',
  datetime: 'timestamp',
  timestampz: 'timestamptz',
};

export const columnSpec = (name: string, input: unknown, problems: Problems): ColumnSpec | undefined => {
  problems.add(columnNameProblem(name), 'the name');
  const state = stateOf(input);
  if (state === undefined)
    return problems.add(
      `${show(input)} is not a column; use column.text('Header') …; known types: ${columnTypeNames.join(', ')}`,
    );
  const { type } = state;
  if (!isTypeName(type)) return problems.add(unknownType(type));
  for (const modifier of state.unknown)
    problems.add(`unknown modifier \`.${modifier}\`${didYouMean(modifier, columnModifierNames)}`);
  const headers = problems.parse(fieldsSchema, state.headers, 'header');
  const read = readOptions(type, state, problems);
  const modifiers = problems.parse(modifiersSchema, state);
  if (read === undefined) return undefined;
  const { own: options, separator } = read;
  const rules = columnRules(state.rules, { type, options }, problems);
  if (headers === undefined || modifiers === undefined || rules === undefined) return undefined;
  if (separator !== undefined && headers.length === 1)
    problems.add('separator goes between several fields, and the column names one; leave it out');
  const spec: ColumnSpec = {
    name,
    type,
    options,
    headers,
    separator: separator ?? '',
    nullable: state.nullable,
    nulls: [...new Set([...read.nulls, ...modifiers.nulls.flat()])],
    tokens: Object.assign({}, read.tokens, ...modifiers.tokens) as Record<string, string>,
    default: state.default && valueText('default', { type, options }, state.default.value, problems),
    map: modifiers.map,
    rules,
    checks: modifiers.checks,
    schema: modifiers.schema,
  };
  checkDefault(spec, problems);
  return spec;
};

/** Checks that a default passes the column's own checks. A load does not check defaults. */
const checkDefault = (spec: ColumnSpec, problems: Problems): void => {
  if (spec.default === undefined) return;
  const judge = withChecks(spec, canonicalReader(typeOf(spec), spec.options));
  const failed = `default ${show(spec.default)} does not pass the column's own check`;
  try {
    const judged = judge(spec.default);
    if (isRefusal(judged)) problems.add(`${failed}: ${judged.reason}`);
  } catch (error) {
    problems.add(`${failed}: ${messageOf(error)}`);
  }
};

const unknownType = (type: string): string => {
  const meant = nearest(type, [...columnTypeNames, ...Object.keys(otherNames)]);
  const suggestion = meant === undefined ? ';' : `; did you mean \`${otherNames[meant] ?? meant}\`?`;
  return `unknown column type \`${type}\`${suggestion} known types: ${columnTypeNames.join(', ')}`;
};

const readOptions = (type: ColumnTypeName, state: ColumnState, problems: Problems) => {
  const read = problems.parse(optionSchemas[type]!, state.options ?? {}) as
    | (ColumnOptions & z.output<z.ZodObject<typeof common>>)
    | undefined;
  if (read === undefined) return undefined;
  const { nulls, tokens: replaced, separator, ...rest } = read;
  const own: ColumnOptions = type === 'of' ? { ...rest, sqlType: state.sqlType } : rest;
  if (type === 'of' && problems.parse(sqlType, state.sqlType, 'type') === undefined) return undefined;
  const problem = typeOf({ type }).optionsProblem?.(own);
  if (problem !== undefined) return problems.add(problem);
  return { own, nulls, tokens: replaced, separator };
};

const sqlType = optionSchema(columnTypes.of.options.sqlType);

const optionSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(columnTypes).map(([name, { options }]) => {
    const shapes = Object.entries<OptionShape>(options).filter(([key]) => key !== 'sqlType');
    const own = Object.fromEntries(shapes.map(([key, shape]) => [key, optionSchema(shape).optional()]));
    return [name, strict({ ...own, ...common }, 'an object of options')];
  }),
);
