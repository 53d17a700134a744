// Collects everything that is wrong with a declaration, and the schemas that its parts have in common.

import { z } from 'zod';
import { EtlError } from '../core/errors/errors.ts';
import { asList, onOneLine } from '../core/wording.ts';
import { didYouMean } from '../core/nearest.ts';

/** The problems of a declaration, one line each, in its order. The lines of a part begin with its place. */
export class Problems {
  readonly #place: string;
  readonly #lines: string[];

  /** Those of a whole declaration; `at` gives those of a part. */
  constructor(place = '', lines: string[] = []) {
    this.#place = place;
    this.#lines = lines;
  }

  /** The same problems, for a part of this part: its lines begin with `table observation, column wind: `. */
  at(part: string): Problems {
    return new Problems(this.#place === '' ? part : `${this.#place}, ${part}`, this.#lines);
  }

  /** How many lines all parts have added so far. */
  get count(): number {
    return this.#lines.length;
  }

  /** Adds one line, which says of `key`, if there is one, what is wrong. Undefined: nothing is wrong. */
  add(what: string | undefined, key?: string): undefined {
    if (what !== undefined) this.#lines.push(this.#line(key === undefined ? what : `${key} ${what}`));
  }

  /** Adds one line unless it is there already. */
  addOnce(what: string): void {
    if (!this.#lines.includes(this.#line(what))) this.add(what);
  }

  /** Reads a part, called `key` if it has a name. Of one that is not valid, gives undefined and adds lines. */
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

  /** Throws ETL_DEFINITION when there are any. */
  throwIfAny(pipeline: string): void {
    if (this.count > 0) throw this.error(pipeline);
  }

  error(pipeline: string, options?: ErrorOptions): EtlError {
    return new EtlError('ETL_DEFINITION', { pipeline, problems: asList(this.#lines) }, options);
  }

  #line(what: string): string {
    return this.#place === '' ? what : `${this.#place}: ${what}`;
  }
}

/** ['primaryKey', 0] as `primaryKey[0]`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth > 0 ? '.' : ''}${String(step)}`))
    .join('');

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

/** The Zod error setting of a choice: the message lists the known values. */
export const mustBeOneOf = (values: readonly string[]) => ({
  error: (issue: { readonly input?: unknown }) =>
    `does not know ${show(issue.input)}; known values: ${values.map(show).join(', ')}`,
});

/** One of these texts. */
export const choice = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, mustBeOneOf(values));

export const boolean = z.boolean(mustBe('true or false'));

/** A text that is not empty. */
export const text = (what: string) => z.string(mustBe(what)).min(1, mustBe(what));

export const texts = z.array(z.string(mustBe('a text')), mustBe('a list of texts'));

/** A whole number, both ends included. */
export const wholeNumber = (what: string, least: number, most = Infinity) =>
  z.int(mustBe(what)).min(least, mustBe(what)).max(most, mustBe(what));

/** One value, which gives a list of one, or a list of at least one. */
export const oneOrMore = <Item extends z.ZodType>(item: Item, what: string) => {
  const must = mustBe(what);
  return z.union([item.transform((one) => [one]), z.array(item, must).min(1, must)], must);
};

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
