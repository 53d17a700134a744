// What a column is declared as, by what was seen of it: the narrowest type that takes every text, or text where that is not clear.

import { formatCount } from '../wording.ts';
import { bit } from './candidates.ts';
import { counterOf, type ColumnEvidence, type Group } from './column-evidence.ts';
import type { Decision, Doubt, Summary, TypeChoice } from './contract.ts';
import { decideMoment } from './decide-moment.ts';
import { decideNumber } from './decide-number.ts';
import { commonWords } from './null-words.ts';
import { shownText } from './shown-text.ts';

/** Records of a group. */
export const countOf = ({ counters }: ColumnEvidence, { counter, texts }: Group): number => {
  let count = counters[counter]!;
  for (const one of texts.values()) count += counters[one]!;
  return count;
};

const summaryOf = (column: ColumnEvidence, name: string): Summary => {
  const groups = [...column.groups.values()];
  const text = column.counters[counterOf.text]!;
  const least = (key: 'least' | 'lengthMin' | 'dateMin'): number =>
    Math.min(...groups.map((one) => one[key]));
  const most = (key: 'most' | 'integers' | 'decimals' | 'lengthMax' | 'dateMax'): number =>
    Math.max(...groups.map((one) => one[key]));
  const some = (key: 'hasTimeOfDay' | 'hasUpperCase' | 'hasLowerCase' | 'hasPlus'): boolean =>
    groups.some((one) => one[key]);
  return {
    name,
    groups,
    all: text > 0 || groups.length === 0 ? 0 : groups.reduce((mask, one) => mask & one.mask, -1),
    values: groups.reduce((sum, one) => sum + countOf(column, one), text),
    least: least('least'),
    most: most('most'),
    integers: most('integers'),
    decimals: most('decimals'),
    lengthMin: least('lengthMin'),
    lengthMax: most('lengthMax'),
    dateMin: least('dateMin'),
    dateMax: most('dateMax'),
    hasTimeOfDay: some('hasTimeOfDay'),
    hasUpperCase: some('hasUpperCase'),
    hasLowerCase: some('hasLowerCase'),
    hasPlus: some('hasPlus'),
  };
};

const booleanPairs = [
  ['true', 'false'],
  ['t', 'f'],
  ['yes', 'no'],
  ['y', 'n'],
] as const;

/** Both words of a pair and no other: a column of Y alone may also have N, S and W. */
const decideBoolean = ({ groups }: Summary): TypeChoice | undefined => {
  if (groups.some(({ isFull }) => isFull)) return undefined;
  const words = new Set(groups.flatMap(({ texts }) => [...texts.keys()].map((text) => text.toLowerCase())));
  const isPair = words.size === 2 && booleanPairs.some((pair) => pair.every((word) => words.has(word)));
  return isPair ? { type: 'boolean', options: {}, isOneToOne: false } : undefined;
};

const decideOther = ({ all, hasUpperCase, hasLowerCase }: Summary): TypeChoice | undefined => {
  if ((all & bit.uuid) !== 0)
    return { type: 'uuid', options: {}, isOneToOne: !(hasUpperCase && hasLowerCase) };
  return (all & bit.json) === 0 ? undefined : { type: 'jsonb', options: {}, isOneToOne: false };
};

const textChoice: TypeChoice = { type: 'text', options: {}, isOneToOne: true };

const isDoubt = (found: TypeChoice | Doubt): found is Doubt => 'doubt' in found;

/** Fewer numbers among texts are no sign of anything. */
const usualMin = 20;

/** Texts that keep a column from being what most of its values are. */
const oddOnes = (column: ColumnEvidence, { groups, values }: Summary): string | undefined => {
  const numbers = bit.decimal | bit.comma;
  const likely: readonly (readonly [mask: number, name: string])[] = [
    [numbers, 'numbers'],
    [bit.zeros, 'whole numbers, some with leading zeros'],
    [bit.dateAlone, 'dates'],
    [bit.isoTimestamp | bit.dateAndTime | bit.timestamptz, 'timestamps'],
  ];
  for (const [mask, name] of likely) {
    const odd = groups.filter((group) => (group.mask & mask) === 0);
    const others = odd.reduce((sum, group) => sum + countOf(column, group), 0);
    if (odd.length === 0 || values - others < usualMin || odd.some(({ isFull }) => isFull)) continue;
    const texts = odd.flatMap((group) =>
      [...group.texts].map(
        ([text, counter]) => `${shownText(text)} ${formatCount(column.counters[counter]!)}×`,
      ),
    );
    return `${formatCount(values - others)} of ${formatCount(values)} are ${name}, ${texts.slice(0, 4).join(', ')} not: kept as text; if they mean no value, declare them as \`nulls\``;
  }
  return undefined;
};

const textDoubts = (column: ColumnEvidence, summary: Summary): readonly string[] => {
  const odd = oddOnes(column, summary);
  const words = [...column.words].filter(([word]) => !commonWords.has(word));
  const shown = words.map(
    ([word, counter]) => `${shownText(word)} ${formatCount(column.counters[counter]!)}×`,
  );
  return [
    ...(odd === undefined ? [] : [odd]),
    ...(shown.length === 0
      ? []
      : [`${shown.join(', ')}: kept as text; if that means no value, declare it as \`nulls\``]),
  ];
};

/** What a column is declared as. */
export const decideColumn = (column: ColumnEvidence, name: string): Decision => {
  const { counters } = column;
  const summary = summaryOf(column, name);
  const words = [...column.words].map(([word, counter]) => [word, counters[counter]!] as const);
  const empty = counters[counterOf.empty]! + counters[counterOf.blank]!;
  const found =
    summary.values === 0
      ? textChoice
      : (decideBoolean(summary) ??
        decideOther(summary) ??
        decideMoment(summary) ??
        decideNumber(summary) ??
        textChoice);
  if (!isDoubt(found) && found.type !== 'text') {
    const missing = words.reduce((sum, [, count]) => sum + count, empty);
    return { ...found, missing, words, values: summary.values, doubts: [] };
  }
  const values = words.reduce((sum, [, count]) => sum + count, summary.values);
  const doubts = isDoubt(found) ? [found.doubt] : textDoubts(column, summary);
  return { ...textChoice, missing: empty, words: [], values, doubts };
};

/** The only value of a column that has no other; undefined: it has several, or none. */
export const onlyValue = (column: ColumnEvidence): string | undefined => {
  const groups = [...column.groups.values()];
  const isOne = groups.length === 1 && groups[0]!.texts.size === 1 && column.words.size === 0;
  return isOne && !groups[0]!.isFull ? [...groups[0]!.texts.keys()][0] : undefined;
};
