// Decides the type of a column: the narrowest type that keeps every text; in doubt, text.

import { formatCount } from '../../core/wording.ts';
import { bit } from './candidates.ts';
import { counterOf, type ColumnEvidence } from './column-evidence.ts';
import type { Alternative, Decision, Doubt, Group, Summary, TypeChoice, Word } from './contract.ts';
import { storedValue } from '../write-back.ts';
import { allTexts } from './losses.ts';
import { decideMoment } from './decide-moment.ts';
import { decideNumber } from './decide-number.ts';
import { decided, textChoice, usually, type Deciding } from './decided.ts';
import { decideDeclared, isDoubt } from './decide-declared.ts';
import { commonWords, noValueWords } from './null-words.ts';
import { shownText } from '../shown-text.ts';
import { booleanRemark, booleanWords, spelledAs, type Spelled } from './spellings.ts';

const countOf = ({ counters }: ColumnEvidence, { counter, texts }: Group): number => {
  let count = counters[counter]!;
  for (const one of texts.values()) count += counters[one.counter]!;
  return count;
};

const summaryOf = (
  column: ColumnEvidence,
  name: string,
  groups: readonly Group[] = [...column.groups.values()],
): Summary => {
  const text = column.counters[counterOf.text]!;
  const least = (key: 'least' | 'decimalsMin'): number => Math.min(...groups.map((one) => one[key]));
  const most = (key: 'most' | 'integers' | 'decimals'): number => Math.max(...groups.map((one) => one[key]));
  const some = (key: 'hasTimeOfDay' | 'hasExponent' | 'isInexact'): boolean => groups.some((one) => one[key]);
  return {
    name,
    groups,
    examples: groups.flatMap(({ forms }) => [...forms.values()]),
    all: text > 0 || groups.length === 0 ? 0 : groups.reduce((mask, one) => mask & one.mask, -1),
    values: groups.reduce((sum, one) => sum + countOf(column, one), text),
    least: least('least'),
    most: most('most'),
    integers: most('integers'),
    decimals: most('decimals'),
    decimalsMin: least('decimalsMin'),
    hasTimeOfDay: some('hasTimeOfDay'),
    hasExponent: some('hasExponent'),
    isInexact: some('isInexact'),
  };
};

const keptTexts = (summary: Summary): readonly string[] => allTexts(summary).map(({ text }) => text);

/**
 * Needs both words of a pair, each in one spelling, and no other words: a column of Y alone may
 * later have N, S and W, and `unknown` is a third answer.
 */
const decideBoolean = (summary: Summary, words: readonly string[]): TypeChoice | undefined => {
  const texts = keptTexts(summary);
  if (texts.length !== 2 || summary.groups.some(({ isFull }) => isFull)) return undefined;
  if (words.some((word) => !noValueWords.has(word))) return undefined;
  const isOf = (text: string, word: string): boolean => text.toLowerCase() === word;
  for (const [yes, no] of booleanWords.slice(0, 4)) {
    const [first, second] = [yes, no].map((word) => texts.find((text) => isOf(text, word)));
    if (first === undefined || second === undefined) continue;
    const options = first === 'true' && second === 'false' ? {} : { true: [first], false: [second] };
    return { type: 'boolean', options, isOneToOne: true };
  }
  return undefined;
};

const decideOther = ({ all, examples }: Summary): TypeChoice | undefined => {
  if ((all & bit.uuid) !== 0) {
    const [upper, lower] = [/[A-F]/, /[a-f]/].map((letter) => examples.some(({ text }) => letter.test(text)));
    return { type: 'uuid', options: {}, isOneToOne: !(upper && lower) };
  }
  // jsonb drops the first of two equal keys, orders the keys, and writes numbers in its own way.
  return (all & bit.json) === 0 ? undefined : { type: 'json', options: {}, isOneToOne: false };
};

const decideSummary = (
  summary: Summary,
  spelled: Spelled | undefined,
  words: readonly string[],
): TypeChoice | Doubt => {
  const found =
    decideBoolean(summary, words) ?? decideOther(summary) ?? decideMoment(summary) ?? decideNumber(summary);
  if (found !== undefined || spelled === undefined) return found ?? textChoice;
  const { choice, remark } = spelled;
  if (remark === undefined) return choice ?? textChoice;
  return { doubt: remark, alternatives: choice === undefined ? [] : [{ label: 'numbers', choice }] };
};

type Open = Pick<Decision, 'doubts' | 'alternatives'>;

const timesText = (column: ColumnEvidence, [text, { counter }]: readonly [string, Word]): string =>
  `${shownText(text)} ${formatCount(column.counters[counter]!)}×`;

/** Least number of usual values, such as dates, for a remark; or twice as many as other texts. */
const usualMin = 20;
const usualShare = 2;

const likely: readonly (readonly [mask: number, what: string])[] = [
  [bit.decimal | bit.comma | bit.grouped | bit.groupedByPoint, 'numbers'],
  [bit.zeros, 'whole numbers, some with leading zeros'],
  [bit.dateAlone, 'dates'],
  [bit.isoTimestamp | bit.dateAndTime | bit.timestamptz, 'timestamps'],
];

/** Returns a remark about a column of which nearly all values are numbers, or dates. */
const oddOnes = (column: ColumnEvidence, summary: Summary, deciding: Deciding): Open | undefined => {
  const { name, groups, values } = summary;
  for (const [mask, what] of likely) {
    const odd = groups.filter((group) => (group.mask & mask) === 0);
    const others = odd.reduce((sum, group) => sum + countOf(column, group), 0);
    const usual = values - others;
    if (odd.length === 0 || odd.some(({ isFull }) => isFull)) continue;
    if (usual < usualMin && usual <= usualShare * others) continue;
    const words = odd.flatMap(({ texts }) => [...texts]);
    const shown = words.slice(0, 4).map((word) => timesText(column, word));
    const orNone = words.some(([word]) => /\p{L}{2}/u.test(word))
      ? '; if they are totals or other lines that are not data, leave them out with `skipEnd` or `filter`'
      : '';
    const rest = summaryOf(
      column,
      name,
      groups.filter((group) => !odd.includes(group)),
    );
    const found = decideSummary(rest, undefined, []);
    const choice = isDoubt(found) ? found.alternatives[0]?.choice : found;
    const isPossible =
      choice !== undefined && choice.type !== 'text' && column.counters[counterOf.text] === 0;
    const decision = isPossible ? decided(column, choice, rest, deciding, words) : undefined;
    return {
      doubts: [
        `${formatCount(usual)} of ${formatCount(values)} are ${what}, ${shown.join(', ')} not: kept as text; if they mean no value, name them with \`--null\`${orNone}`,
      ],
      alternatives:
        decision === undefined ? [] : [{ label: `${decision.type}, and no value for the others`, decision }],
    };
  }
  return undefined;
};

const textDoubts = (column: ColumnEvidence, summary: Summary, deciding: Deciding): Open => {
  const odd = oddOnes(column, summary, deciding);
  const words = [...column.words].filter(([word]) => !commonWords.has(word));
  const shown = words.map((word) => timesText(column, word));
  const kept = `${shown.join(', ')}: kept as text; if that means no value, declare it as \`nulls\``;
  const isFew = !summary.groups.some(({ isFull }) => isFull) && column.counters[counterOf.text] === 0;
  const truth = isFew ? booleanRemark(keptTexts(summary), [...column.words.keys()]) : undefined;
  return {
    doubts: [
      ...(odd?.doubts ?? []),
      ...(truth === undefined ? [] : [truth]),
      ...(shown.length === 0 ? [] : [kept]),
    ],
    alternatives: odd?.alternatives ?? [],
  };
};

/** Returns the labels with what each choice makes of a text: that of which they differ most. */
const withExamples = (all: readonly Alternative[], summary: Summary): readonly string[] => {
  const stores = all.map(({ choice }) => storedValue(choice));
  const read = [...allTexts(summary), ...summary.examples].map(({ text }) => ({
    text,
    values: stores.map((store) => store(text)),
  }));
  const meanings = ({ text, values }: (typeof read)[number]): number => new Set([text, ...values]).size;
  const [best] = read.toSorted((one, other) => meanings(other) - meanings(one));
  return all.map(({ label }, index) =>
    best === undefined ? label : `${label}: ${shownText(best.text)} is ${best.values[index]}`,
  );
};

const blanksDoubt =
  'other columns have blanks around their texts, too: kept as text; `--trim yes` removes all of them';

/** Decides a column's type. */
export const decideColumn = (column: ColumnEvidence, name: string, how: Partial<Deciding> = {}): Decision => {
  const deciding = { ...usually, ...how };
  const isName = ({ isFull, texts }: Group): boolean => !isFull && texts.size === 1 && texts.has(name);
  const groups = [...column.groups.values()];
  const summary = summaryOf(
    column,
    name,
    deciding.isRepeated ? groups.filter((one) => !isName(one)) : groups,
  );
  const first = keptTexts(summary)[0] ?? '';
  const spelled = spelledAs(column.spellings & column.someSpellings, first);
  const found = summary.values === 0 ? textChoice : decideSummary(summary, spelled, [...column.words.keys()]);
  if (deciding.declared !== undefined)
    return decideDeclared(column, deciding.declared, found, summary, deciding);
  const typed =
    isDoubt(found) || found.type === 'text' ? undefined : decided(column, found, summary, deciding);
  if (typed !== undefined) return typed;
  const text = decided(column, textChoice, summary, deciding)!;
  if (!isDoubt(found))
    return {
      ...text,
      ...(found.type === 'text'
        ? textDoubts(column, summary, deciding)
        : { doubts: [`${found.type}, but ${blanksDoubt}`] }),
    };
  const answers = withExamples(found.alternatives, summary);
  const alternatives = found.alternatives.flatMap(({ choice }, index) => {
    const decision = decided(column, choice, summary, deciding);
    return decision === undefined ? [] : [{ label: answers[index]!, decision }];
  });
  return { ...text, doubts: [found.doubt], alternatives };
};

export const onlyValue = (column: ColumnEvidence): string | undefined => {
  const groups = [...column.groups.values()];
  const isOne = groups.length === 1 && groups[0]!.texts.size === 1 && column.words.size === 0;
  return isOne && !groups[0]!.isFull ? [...groups[0]!.texts.keys()][0] : undefined;
};
