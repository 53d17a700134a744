// Reads the `row` of a table that SQL makes: a z.object, whose keys are the table's columns.

import { z } from 'zod';
import type { MadeColumn } from '../../core/declaration.ts';
import { mustBe } from '../problems.ts';

/** Accepts a z.object of any copy of Zod 4. Objects of Zod 3 have a different structure. */
export const zodObject = z.custom<z.ZodObject>(
  (value) => value instanceof z.core.$ZodObject,
  mustBe('a z.object({ … }) of Zod 4'),
);

const isKind = (type: string): type is Exclude<MadeColumn['value'], 'any'> =>
  ['string', 'number', 'bigint', 'boolean'].includes(type);

/** Returns the schema inside `.optional()`, `.default()`, `.pipe()` and similar, or undefined. */
export const innerOf = (schema: z.ZodType): z.ZodType | undefined => {
  const { innerType, in: input } = schema.def as { readonly innerType?: z.ZodType; readonly in?: z.ZodType };
  return innerType ?? input;
};

/**
 * Returns the JavaScript type that a schema reads: `z.enum(['a', 'b']).optional()` reads a string.
 */
const valueOf = (schema: z.ZodType): MadeColumn['value'] => {
  const inner = innerOf(schema);
  if (inner !== undefined) return valueOf(inner);
  const {
    type,
    entries = {},
    values,
  } = schema.def as {
    readonly type: string;
    readonly entries?: object;
    readonly values?: readonly unknown[];
  };
  const words = new Set((values ?? Object.values(entries)).map((value) => typeof value));
  const word: string = words.size === 1 ? [...words][0]! : type;
  return isKind(word) ? word : 'any';
};

/** Returns the columns of a declared row, in declared order. */
export const madeColumns = ({ shape }: z.ZodObject): readonly MadeColumn[] =>
  Object.entries(shape as Readonly<Record<string, z.ZodType>>).map(([name, schema]) => ({
    name,
    value: valueOf(schema),
    nullable: schema.safeParse(null).success,
  }));
