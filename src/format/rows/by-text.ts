// Which columns the row routine (WebAssembly) leaves to JavaScript, and why.

import type { ColumnSpec } from '../../core/declaration.ts';
import { typeOf } from '../types/registry.ts';
import { notFromBytes, type ByteKind } from '../encoder/kinds.ts';
import { keepsText } from './row-form.ts';
import { rulesByText } from './rule-plan.ts';

const functionsOf = (spec: ColumnSpec): readonly string[] => [
  ...(spec.test === undefined ? [] : ['publish.deleted']),
  ...(spec.map === undefined ? [] : ['.map']),
  ...(spec.checks.length === 0 ? [] : ['.check']),
  ...(spec.schema === undefined ? [] : ['.zod']),
  ...new Set(rulesByText(spec).map((kind) => `.${kind}`)),
];

export const hasFunction = (spec: ColumnSpec): boolean => functionsOf(spec).length > 0;

/** True if user functions need every text: for `map`, and to see what a token means. */
const isForFunctions = (spec: ColumnSpec): boolean =>
  spec.test !== undefined ||
  spec.map !== undefined ||
  (hasFunction(spec) && Object.keys(spec.tokens).length > 0);

const isRewritten = (spec: ColumnSpec, isTextFormat: boolean): boolean => isTextFormat && !keepsText(spec);

export const kindOf = (spec: ColumnSpec, isTextFormat: boolean): ByteKind =>
  isForFunctions(spec) || isRewritten(spec, isTextFormat) ? notFromBytes : typeOf(spec).bytes(spec.options);

/** Says why JavaScript converts all values. Undefined if it converts few. */
export const whyByText = (spec: ColumnSpec, isTextFormat: boolean): string | undefined => {
  const functions = functionsOf(spec);
  if (functions.length > 0) return functions.join(', ');
  if (kindOf(spec, isTextFormat).kind !== notFromBytes.kind) return undefined;
  return isRewritten(spec, isTextFormat) ? 'rewritten for the server' : 'its spelling';
};
