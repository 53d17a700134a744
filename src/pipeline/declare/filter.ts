// Filters choose which records of the files are loaded. Other records are counted as filtered.

import { z } from 'zod';
import type { FilterSpec } from '../../core/declaration.ts';
import type { Field, PathPart } from './field.ts';
import { freezeDeep } from '../freeze.ts';
import { fieldSchema } from '../field.ts';
import { functionSchema, mustBe, texts } from '../problems.ts';

/**
 * Matches records whose field has a value: neither blank nor one of the texts of csv(…, { nulls }).
 * Example: `filter: present('Id')`.
 */
export const present = (header: Field): FilterSpec => freezeDeep({ kind: 'present', header });

/**
 * Matches records whose field is one of these texts, after trimming blanks.
 * Example: `filter: oneOf('Type', ['SALE', 'RETURN'])`.
 */
export const oneOf = (header: Field, values: readonly string[]): FilterSpec =>
  freezeDeep({ kind: 'oneOf', header, values });

/** The key of a field in the argument of `when`: its position, its name, or the first of `from`. */
type KeyOf<Named extends Field> = Named extends { readonly from: readonly [infer First, ...unknown[]] }
  ? First & string
  : Named extends PathPart
    ? string
    : Exclude<Named, object>;

/**
 * Matches records for which the function returns true.
 * Example: `filter: when(({ Type, Id }) => Type === 'SALE' || Id === null, ['Type', 'Id'])`.
 *
 * @param test gets the named fields of a record, trimmed; null for a null token.
 * @param headers the fields that the function needs.
 */
export const when = <const Header extends Field>(
  test: (fields: Readonly<Record<KeyOf<Header>, string | null>>) => boolean,
  headers: readonly Header[],
): FilterSpec => freezeDeep({ kind: 'when', headers, test: test as never });

const oneFilter = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('present'), header: fieldSchema }),
    z.strictObject({
      kind: z.literal('oneOf'),
      header: fieldSchema,
      values: texts.min(1, mustBe('a list of texts')),
    }),
    z.strictObject({
      kind: z.literal('when'),
      headers: z.array(fieldSchema, mustBe('a list of fields')).min(1, mustBe('a list of fields')),
      test: functionSchema<Extract<FilterSpec, { kind: 'when' }>['test']>('a function that gets the fields'),
    }),
  ],
  mustBe('present(…), oneOf(…), when(…), or a list of them'),
);

/** Schema of a filter, or of a list of filters that must all match. */
export const filterSchema = z
  .preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(oneFilter).optional(),
  )
  .transform((filters): readonly FilterSpec[] => filters ?? []);
