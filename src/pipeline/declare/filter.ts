// Filters: which records of a source a table wants; the others are counted as filtered.

import { z } from 'zod';
import type { FilterSpec } from '../../core/declaration/declaration.ts';
import type { Field, PathPart } from './column.ts';
import { freezeDeep } from '../freeze.ts';
import { fieldSchema } from '../field.ts';
import { functionSchema, mustBe, texts } from '../problems.ts';

/** Wants records whose field holds something other than blanks and the dialect's null tokens. */
export const present = (header: Field): FilterSpec => freezeDeep({ kind: 'present', header });

/** Wants records whose field, trimmed, is one of these texts. */
export const oneOf = (header: Field, values: readonly string[]): FilterSpec =>
  freezeDeep({ kind: 'oneOf', header, values });

/** What a function sees a field as: its name or position, the first name where there are several. */
type KeyOf<Named extends Field> = Named extends { readonly from: readonly [infer First, ...unknown[]] }
  ? First & string
  : Named extends PathPart
    ? string
    : Exclude<Named, object>;

/**
 * Wants records for which the function says true.
 *
 * @param test gets the named fields, trimmed; null where the field is a null token.
 * @param headers fields that the function looks at.
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

/** One filter or several, all of which must want the record. */
export const filterSchema = z
  .preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(oneFilter).optional(),
  )
  .transform((filters): readonly FilterSpec[] => filters ?? []);
