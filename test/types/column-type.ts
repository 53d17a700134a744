// What a column type must say, checked by the compiler: a type that leaves something out is no type.

import type { ColumnType } from '../../src/format/types/contract.ts';
import { ofType } from '../../src/format/types/of.ts';
import { textType } from '../../src/format/types/text.ts';

export const whole: readonly ColumnType[] = [textType, ofType];

const { encode: _encode, ...withoutEncoder } = textType;
// @ts-expect-error an encoder, or `serverReads`: a table is never loaded by the slow decoder without anybody saying so
export const first: ColumnType = withoutEncoder;

const { bytes: _bytes, ...withoutBytes } = textType;
// @ts-expect-error how it is read from bytes, or `notFromBytes`
export const second: ColumnType = withoutBytes;

const { value: _value, ...withoutValue } = textType;
// @ts-expect-error what its values are, for row schemas
export const third: ColumnType = withoutValue;

// @ts-expect-error what each option takes
export const fourth: ColumnType<string, { readonly format?: string }>['options'] = {};
