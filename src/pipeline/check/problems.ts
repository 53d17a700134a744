// Collects everything that is wrong with a declaration, one line a problem, through strict Zod schemas.

import { z } from 'zod';
import { EtlError } from '../../errors.ts';
import { asList, onOneLine } from '../../wording.ts';
import { didYouMean } from '../../nearest.ts';

/** Lines such as `table observation, column wind: …`, in the order of the declaration. */
export type Problems = string[];

/** A value as a message shows it. */
export const show = (value: unknown): string => {
  if (typeof value === 'string') return `'${onOneLine(value)}'`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
};

/** The Zod error setting of a value that must be `what`: the message says what came instead. */
export const mustBe = (what: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined
      ? `is missing: it must be ${what}`
      : `must be ${what}, not ${show(issue.input)}`,
});

/** The Zod error setting of a choice that is not open yet or never was. */
export const mustBeOneOf = (values: readonly string[]) => ({
  error: (issue: { readonly input?: unknown }) =>
    `does not know ${show(issue.input)}; known values: ${values.map(show).join(', ')}`,
});

/** An object that refuses unknown keys and suggests the known one. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape, what = 'an object') =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue as unknown as { keys: readonly string[] }).keys
            .map((key) => `unknown key \`${key}\`${didYouMean(key, Object.keys(shape))}`)
            .join(', ')
        : mustBe(what).error(issue),
  });

/** A function; Zod has no schema for values that are functions. */
export const functionSchema = <Fn extends (...args: never[]) => unknown>(what: string) =>
  z.custom<Fn>((value) => typeof value === 'function', mustBe(what));

/** Adds one line; `where` is empty for the pipeline itself. */
export const addProblem = (problems: Problems, where: string, what: string): void => {
  problems.push(where === '' ? what : `${where}: ${what}`);
};

/** Reads one part, `key` if it has a name; undefined, and a line for each problem, when it is not valid. */
export const parsePart = <Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: string,
  problems: Problems,
  key?: string,
): z.output<Schema> | undefined => {
  const parsed = schema.safeParse(input, { jitless: true });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const path = pathText(key === undefined ? issue.path : [key, ...issue.path]);
    addProblem(problems, where, path === '' ? issue.message : `${path} ${issue.message}`);
  }
  return undefined;
};

/** ['primaryKey', 0] as `primaryKey[0]`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth > 0 ? '.' : ''}${String(step)}`))
    .join('');

/** Throws ETL_DEFINITION when anything was collected. */
export const throwProblems = (pipeline: string, problems: Problems, cause?: unknown): void => {
  if (problems.length === 0) return;
  throw new EtlError(
    'ETL_DEFINITION',
    { pipeline, problems: asList(problems) },
    cause === undefined ? undefined : { cause },
  );
};
