// Collects the problems of a declaration, and has schemas that several parts of it use.

import { z } from 'zod';
import { EtlError } from '../core/errors/errors.ts';
import { asList, onOneLine } from '../core/wording.ts';
import { didYouMean } from '../core/nearest.ts';

/** The problems of a declaration, one line each: `table sale, column price: must be …`. */
export class Problems {
  readonly #prefix: string;
  readonly #lines: string[];

  constructor(prefix = '', lines: string[] = []) {
    this.#prefix = prefix;
    this.#lines = lines;
  }

  /** Returns an object that prefixes the lines it adds with `part`, such as `column wind`. */
  at(part: string): Problems {
    return new Problems(this.#prefix === '' ? part : `${this.#prefix}, ${part}`, this.#lines);
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Adds `<key> <what>`, or `<what>` without a key. Adds nothing if `what` is undefined. */
  add(what: string | undefined, key?: string): undefined {
    if (what !== undefined) this.#lines.push(this.#line(key === undefined ? what : `${key} ${what}`));
  }

  addOnce(what: string): void {
    if (!this.#lines.includes(this.#line(what))) this.add(what);
  }

  /** Parses the value of `key`. If it is not valid, adds lines and returns undefined. */
  parse<Schema extends z.ZodType>(
    schema: Schema,
    input: unknown,
    key?: string,
  ): z.output<Schema> | undefined {
    const parsed = schema.safeParse(input, { jitless: true });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const path = pathText(key === undefined ? issue.path : [key, ...issue.path]);
      this.add(issue.message, path === '' ? undefined : path);
    }
    return undefined;
  }

  throwIfAny(pipeline: string): void {
    if (this.count > 0) throw this.error(pipeline);
  }

  error(pipeline: string, options?: ErrorOptions): EtlError {
    return new EtlError('ETL_DEFINITION', { pipeline, problems: asList(this.#lines) }, options);
  }

  #line(what: string): string {
    return this.#prefix === '' ? what : `${this.#prefix}: ${what}`;
  }
}

/** ['primaryKey', 0] -> `primaryKey[0]`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth > 0 ? '.' : ''}${String(step)}`))
    .join('');

export const show = (value: unknown): string => {
  if (typeof value === 'string') return `'${onOneLine(value)}'`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
};

export const mustBe = (what: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined
      ? `is missing: it must be ${what}`
      : `must be ${what}, not ${show(issue.input)}`,
});

export const mustBeOneOf = (values: readonly string[]) => mustBe(`one of ${values.map(show).join(', ')}`);

export const choice = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, mustBeOneOf(values));

export const boolean = z.boolean(mustBe('true or false'));

export const text = (what: string) => z.string(mustBe(what)).min(1, mustBe(what));

export const texts = z.array(z.string(mustBe('a text')), mustBe('a list of texts'));

export const wholeNumber = (what: string, least: number, most = Infinity) =>
  z.int(mustBe(what)).min(least, mustBe(what)).max(most, mustBe(what));

/** One value or a non-empty list of values; parses to a list. */
export const oneOrMore = <Item extends z.ZodType>(item: Item, what: string) => {
  const must = mustBe(what);
  return z.union([item.transform((one) => [one]), z.array(item, must).min(1, must)], must);
};

/** An object whose keys are names of the author's. z.record would drop a key `__proto__`. */
export const named = (what: string) =>
  z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    mustBe(what),
  );

/** An object without unknown keys: the message suggests the key that was probably meant. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape, what = 'an object') =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue as unknown as { keys: readonly string[] }).keys
            .map((key) => `unknown key \`${key}\`${didYouMean(key, Object.keys(shape))}`)
            .join(', ')
        : mustBe(what).error(issue),
  });

/** Zod has no schema for values that are functions. */
export const functionSchema = <Fn extends (...args: never[]) => unknown>(what: string) =>
  z.custom<Fn>((value) => typeof value === 'function', mustBe(what));
