// Chooses the rules that the row routine tests itself, and writes them in its format.

import type { ColumnRule, ColumnSpec, RuleOf } from '../../core/declaration.ts';
import { writesPlainly } from '../types/number-spelling.ts';
import { compareOf, decimalOf, isText, wholeKey } from '../types/order.ts';
import { typeOf } from '../types/registry.ts';
import * as layout from '../assembly/layouts.ts';
import { encoderOf } from './row-form.ts';

interface RoutineRules {
  readonly bytes: Buffer;
  readonly values: readonly string[] | undefined;
}

const rulesOf = <Kind extends ColumnRule['kind']>({ rules }: ColumnSpec, kind: Kind): RuleOf<Kind>[] =>
  rules.filter((rule): rule is RuleOf<Kind> => rule.kind === kind);

const boundOf = (spec: ColumnSpec, kind: 'min' | 'max'): string | undefined => {
  const compareTo = compareOf(typeOf(spec), spec.options);
  const bounds = rulesOf(spec, kind).map(({ bound }) => bound);
  const sign = kind === 'min' ? -1 : 1;
  return bounds.toSorted((one, other) => sign * compareTo!(other)(one))[0];
};

/** Decimals within these limits never share a double. */
const decimalDigitsMax = 15;
const decimalPowerMax = 300;

const isExact = (bound: string): boolean => {
  const decimal = decimalOf(bound);
  return (
    decimal !== undefined &&
    decimal.digits.length <= decimalDigitsMax &&
    Math.abs(decimal.power) <= decimalPowerMax
  );
};

const isOneText = ({ type, options }: ColumnSpec): boolean =>
  isText(typeOf({ type }), options) || ['number', 'bigint'].includes(typeOf({ type }).value(options).kind);

const isForRoutine = (rule: ColumnRule, spec: ColumnSpec): boolean => {
  if (rule.kind === 'pattern') return false;
  if (rule.kind === 'oneOf') return isOneText(spec);
  const isDecimal = 'bound' in rule && typeOf(spec).order === 'decimal';
  return !isDecimal || (writesPlainly(spec.options) && isExact(rule.bound));
};

export const rulesByText = (spec: ColumnSpec): readonly ColumnRule['kind'][] => {
  const kinds = spec.rules.filter((rule) => !isForRoutine(rule, spec)).map(({ kind }) => kind);
  return rulesOf(spec, 'oneOf').length > 1 ? [...kinds, 'oneOf'] : kinds;
};

const setDecimals = (bytes: Buffer, least: string | undefined, most: string | undefined): void => {
  bytes.writeDoubleLE(Number(least ?? -Infinity), layout.ruleLeast);
  bytes.writeDoubleLE(Number(most ?? Infinity), layout.ruleMost);
};

/** Returns an integer in the order of the floats: the bits of negative floats are inverted. */
const floatKey = (bits: bigint, width: bigint): bigint =>
  bits < 0n ? bits ^ (2n ** (width - 1n) - 1n) : bits;

/**
 * Different texts can be the same real, and only the text shows if the value is beyond the bound.
 * So JavaScript judges values equal to the bound, except 0, which no other text equals.
 */
const apartOf = ({ type }: ColumnSpec, key: bigint): bigint => (type === 'real' && key !== 0n ? 1n : 0n);

const setWritten = (
  bytes: Buffer,
  spec: ColumnSpec,
  least: string | undefined,
  most: string | undefined,
): void => {
  const wholeOf = wholeKey(encoderOf(spec));
  const width = spec.type === 'real' ? 32n : 64n;
  const keyOf = (bound: string): bigint =>
    typeOf(spec).order === 'float' ? floatKey(wholeOf(bound), width) : wholeOf(bound);
  const ends =
    typeOf(spec).order === 'float' ? [keyOf('-Infinity'), keyOf('Infinity')] : [-(2n ** 63n), 2n ** 63n - 1n];
  const [from, to] = [least, most].map((bound, index) =>
    bound === undefined ? ends[index]! : keyOf(bound),
  ) as [bigint, bigint];
  bytes.writeBigInt64LE(from + (least === undefined ? 0n : apartOf(spec, from)), layout.ruleLeast);
  bytes.writeBigInt64LE(to - (most === undefined ? 0n : apartOf(spec, to)), layout.ruleMost);
};

export const routineRules = (spec: ColumnSpec): RoutineRules | undefined => {
  if (spec.rules.length === 0 || rulesByText(spec).length > 0) return undefined;
  const bytes = Buffer.alloc(layout.ruleBytes);
  const set = (offset: number, value: number): void => void bytes.writeInt32LE(value, offset);
  const [least, most] = [boundOf(spec, 'min'), boundOf(spec, 'max')];
  const by = typeOf(spec).order;
  if (by !== undefined && (least !== undefined || most !== undefined)) {
    set(layout.ruleOrder, orders[by]);
    if (by === 'decimal') setDecimals(bytes, least, most);
    else setWritten(bytes, spec, least, most);
  }
  const lengths = rulesOf(spec, 'length');
  set(layout.ruleHasLength, Number(lengths.length > 0));
  set(layout.ruleCharactersMin, Math.max(0, ...lengths.map(({ min }) => min)));
  set(layout.ruleCharactersMax, Math.min(longestText, ...lengths.map(({ max }) => max ?? longestText)));
  return { bytes, values: rulesOf(spec, 'oneOf')[0]?.values };
};

const orders = { whole: layout.orderWhole, float: layout.orderFloat, decimal: layout.orderDecimal } as const;

/** Means no limit: more characters than a field can have. */
const longestText = 0x7fffffff;
