// Decides a column whose type the user declares.

import { EtlError } from '../../core/errors/errors.ts';
import { formatCount } from '../../core/wording.ts';
import type { ColumnEvidence } from './column-evidence.ts';
import type { Decision, DeclaredType, Doubt, Summary, TypeChoice } from './contract.ts';
import { decided, type Deciding } from './decided.ts';
import type { Example } from '../loss.ts';
import { allTexts, changedBy } from './losses.ts';
import { shownText } from '../shown-text.ts';

export const isDoubt = (found: TypeChoice | Doubt): found is Doubt => 'doubt' in found;

/** Returns what is found of the declared type, or the type alone. */
const declaredChoice = (
  { type, options }: DeclaredType,
  found: TypeChoice | Doubt,
  { name }: Summary,
): TypeChoice => {
  if (options !== undefined) return { type, options, isOneToOne: false };
  const possible = isDoubt(found) ? found.alternatives.map(({ choice }) => choice) : [found];
  const [same, other] = possible.filter((one) => one.type === type);
  if (other === undefined) return same ?? { type, options: {}, isOneToOne: type === 'text' };
  throw new EtlError('ETL_USAGE', {
    problem: `--type ${name}=${type} may mean ${JSON.stringify(same!.options)} or ${JSON.stringify(other.options)}`,
    hint: `Give its form: --type '${name}=date(DD/MM/YYYY)', --type '${name}=numeric(1,234.5)'. Nothing was written.`,
  });
};

const wholeTypes = new Set(['smallint', 'integer', 'bigint']);

/** The least and the greatest number, which may be none of the examples. */
const endsOf = ({ type }: TypeChoice, { least, most }: Summary): readonly Example[] =>
  (wholeTypes.has(type) ? [least, most] : [])
    .filter(Number.isSafeInteger)
    .map((value) => ({ text: String(value), file: '', line: 0 }));

/** Errors: ETL_USAGE for a type that refuses a value of the column. */
export const decideDeclared = (
  column: ColumnEvidence,
  declared: DeclaredType,
  found: TypeChoice | Doubt,
  summary: Summary,
  deciding: Deciding,
): Decision => {
  const choice = declaredChoice(declared, found, summary);
  const texts = [...summary.examples, ...allTexts(summary), ...endsOf(choice, summary)];
  const refused = texts.find((example) => changedBy(choice, [example]) === undefined);
  const decision = decided(column, choice, summary, deciding);
  if (refused === undefined && decision !== undefined) return decision;
  const { text = '', file = '', line = 0 } = refused ?? {};
  const place = line > 0 ? ` in line ${formatCount(line)} of ${file}` : '';
  const problem = refused === undefined ? 'blanks around values' : `${shownText(text)}${place}`;
  throw new EtlError('ETL_USAGE', {
    problem: `--type ${summary.name}=${choice.type}: the type refuses ${problem}`,
    hint: 'Declare a type that accepts every value, name texts without a value with --null, or remove blanks with --trim yes. Nothing was written.',
  });
};
