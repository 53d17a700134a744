// Checks the declaration of a column and returns its specification.

import { z } from 'zod';
import type {
  ColumnCheck,
  ColumnOptions,
  ColumnSchema,
  ColumnSpec,
} from '../../core/declaration/declaration.ts';
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
import { columnRules } from './column-rules.ts';
import { fieldsSchema } from '../field.ts';
import { valueText } from './declared-values.ts';
import { columnNameProblem } from '../names.ts';
import { boolean, functionSchema, mustBe, show, strict, text, texts, type Problems } from '../problems.ts';

const tokens = z.record(z.string(), z.string(mustBe('a text')), mustBe('an object from text to text'));

/**
 * Returns the schema of one option of a type. The type itself checks options against each other.
 */
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

/** Type names of other databases and languages, with the names of our types to suggest instead. */
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

/** Returns the checked column, or undefined with problems added. */
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

/** Checks the default against the column's rules: during a load, nothing checks defaults. */
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

/** Returns the options of the type and the common options, or undefined with problems added. */
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

/** Schemas of the options, by type. The SQL type of column.of is not an option but an argument. */
const optionSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(columnTypes).map(([name, { options }]) => {
    const shapes = Object.entries<OptionShape>(options).filter(([key]) => key !== 'sqlType');
    const own = Object.fromEntries(shapes.map(([key, shape]) => [key, optionSchema(shape).optional()]));
    return [name, strict({ ...own, ...common }, 'an object of options')];
  }),
);
