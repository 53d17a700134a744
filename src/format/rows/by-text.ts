// Which columns the row routine leaves to JavaScript, and why.

import type { ColumnSpec } from '../../core/declaration/declaration.ts';
import { typeOf } from '../types/registry.ts';
import { notFromBytes, type ByteKind } from '../encoder/kinds.ts';
import { keepsText } from './row-form.ts';
import { rulesByText } from './rule-plan.ts';

/** Modifiers that judge the column's values in JavaScript: functions of the pipeline, and rules that the routine does not know. */
const functionsOf = (spec: ColumnSpec): readonly string[] => [
  ...(spec.test === undefined ? [] : ['publish.deleted']),
  ...(spec.map === undefined ? [] : ['.map']),
  ...(spec.checks.length === 0 ? [] : ['.check']),
  ...(spec.schema === undefined ? [] : ['.zod']),
  ...new Set(rulesByText(spec).map((kind) => `.${kind}`)),
];

export const hasFunction = (spec: ColumnSpec): boolean => functionsOf(spec).length > 0;

/** Every text goes to the column's functions: `map` changes it, and they have to see what a token means. */
const isForFunctions = (spec: ColumnSpec): boolean =>
  spec.test !== undefined ||
  spec.map !== undefined ||
  (hasFunction(spec) && Object.keys(spec.tokens).length > 0);

const isRewritten = (spec: ColumnSpec, isTextFormat: boolean): boolean => isTextFormat && !keepsText(spec);

/** How the routine reads the column. */
export const kindOf = (spec: ColumnSpec, isTextFormat: boolean): ByteKind =>
  isForFunctions(spec) || isRewritten(spec, isTextFormat) ? notFromBytes : typeOf(spec).bytes(spec.options);

/** Why each of the column's values becomes a text in JavaScript, which is slower; undefined: none does, if it is spelled as usual. */
export const whyByText = (spec: ColumnSpec, isTextFormat: boolean): string | undefined => {
  const functions = functionsOf(spec);
  if (functions.length > 0) return functions.join(', ');
  if (kindOf(spec, isTextFormat).kind !== notFromBytes.kind) return undefined;
  return isRewritten(spec, isTextFormat) ? 'rewritten for the server' : 'its spelling';
};
