// The row of a table that SQL makes: declared as a z.object, and read into what its columns must hold.

import { z } from 'zod';
import type { MadeColumn } from '../../core/declaration/declaration.ts';
import { mustBe } from '../problems.ts';

/** A z.object of any copy of Zod 4. Zod 3 has other types and other schemas. */
export const zodObject = z.custom<z.ZodObject>(
  (value) => value instanceof z.core.$ZodObject,
  mustBe('a z.object({ … }) of Zod 4'),
);

const isKind = (type: string): type is Exclude<MadeColumn['value'], 'any'> =>
  ['string', 'number', 'bigint', 'boolean'].includes(type);

/** The schema within `.optional()`, `.default()`, `.pipe()` and the like; undefined: there is none. */
export const innerOf = (schema: z.ZodType): z.ZodType | undefined => {
  const { innerType, in: input } = schema.def as { readonly innerType?: z.ZodType; readonly in?: z.ZodType };
  return innerType ?? input;
};

/** The type of the values that a schema reads: its own, that of the schema within, or that of its literals. */
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

/** The columns of a declared row, in its order. */
export const madeColumns = ({ shape }: z.ZodObject): readonly MadeColumn[] =>
  Object.entries(shape as Readonly<Record<string, z.ZodType>>).map(([name, schema]) => ({
    name,
    value: valueOf(schema),
    nullable: schema.safeParse(null).success,
  }));
