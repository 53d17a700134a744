// Decides the type of a column: the narrowest type that accepts every text; in doubt, text.

import { formatCount } from '../../core/wording.ts';
import { bit } from './candidates.ts';
import { counterOf, type ColumnEvidence } from './column-evidence.ts';
import type { Decision, Doubt, Group, Summary, TypeChoice } from './contract.ts';
import { decideMoment } from './decide-moment.ts';
import { decideNumber } from './decide-number.ts';
import { commonWords } from './null-words.ts';
import { shownText } from './shown-text.ts';

const countOf = ({ counters }: ColumnEvidence, { counter, texts }: Group): number => {
  let count = counters[counter]!;
  for (const one of texts.values()) count += counters[one]!;
  return count;
};

const summaryOf = (
  column: ColumnEvidence,
  name: string,
  groups: readonly Group[] = [...column.groups.values()],
): Summary => {
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

/** Needs both words of a pair and no other words: a column of Y alone may later have N, S and W. */
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

/** Least number of usual values, such as dates, for a remark about the other texts of a column. */
const usualMin = 20;

const timesText = (column: ColumnEvidence, [text, counter]: readonly [string, number]): string =>
  `${shownText(text)} ${formatCount(column.counters[counter]!)}×`;

type Words = readonly (readonly [word: string, counter: number])[];

const decided = (column: ColumnEvidence, choice: TypeChoice, values: number, more: Words = []): Decision => {
  const { counters, isPadded } = column;
  const words = [...column.words, ...more].map(([word, counter]) => [word, counters[counter]!] as const);
  const empty = counters[counterOf.empty]! + counters[counterOf.blank]!;
  const missing = words.reduce((sum, [, count]) => sum + count, empty);
  return { ...choice, missing, words, values, isPadded, losses: [], doubts: [], alternatives: [] };
};

const decideSummary = (summary: Summary): TypeChoice | Doubt =>
  decideBoolean(summary) ??
  decideOther(summary) ??
  decideMoment(summary) ??
  decideNumber(summary) ??
  textChoice;

type Open = Pick<Decision, 'doubts' | 'alternatives'>;

const oddOnes = (column: ColumnEvidence, { name, groups, values }: Summary): Open | undefined => {
  const numbers = bit.decimal | bit.comma;
  const likely: readonly (readonly [mask: number, what: string])[] = [
    [numbers, 'numbers'],
    [bit.zeros, 'whole numbers, some with leading zeros'],
    [bit.dateAlone, 'dates'],
    [bit.isoTimestamp | bit.dateAndTime | bit.timestamptz, 'timestamps'],
  ];
  for (const [mask, what] of likely) {
    const odd = groups.filter((group) => (group.mask & mask) === 0);
    const others = odd.reduce((sum, group) => sum + countOf(column, group), 0);
    if (odd.length === 0 || values - others < usualMin || odd.some(({ isFull }) => isFull)) continue;
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
    const found = decideSummary(rest);
    const choice = isDoubt(found) ? found.alternatives[0]?.choice : found;
    const isPossible =
      choice !== undefined && choice.type !== 'text' && column.counters[counterOf.text] === 0;
    return {
      doubts: [
        `${formatCount(values - others)} of ${formatCount(values)} are ${what}, ${shown.join(', ')} not: kept as text; if they mean no value, declare them as \`nulls\`${orNone}`,
      ],
      alternatives: isPossible
        ? [
            {
              label: `${choice.type}, and no value for the others`,
              decision: decided(column, choice, rest.values, words),
            },
          ]
        : [],
    };
  }
  return undefined;
};

/** Values that need options. All values must match `pattern`, and at least one value `ofSome`. */
const spellings: readonly (readonly [pattern: RegExp, doubt: string, ofSome?: RegExp])[] = [
  [
    /^[-(]?\s?(?:[$€£¥]\s?[\d.,]+|[\d.,]+\s?[$€£¥])\)?$/,
    'amounts of money: kept as text; `column.numeric(…).map(…)` reads them without their sign',
  ],
  [/^[-+]?[\d.,]+\s?%$/, "percentages: kept as text; `column.numeric(…, { percent: 'number' })` reads them"],
  [
    /^[-+]?\d{1,3}(?:[\u00a0\u202f]\d{3})*(?:[.,]\d+)?$/,
    String.raw`numbers with a no-break space between thousands: kept as text; \`column.numeric(…, { thousands: '\u00a0' })\` reads them, \u202f if it is a narrow one`,
  ],
  [
    /^[-+]?(?:\d{1,2}(?:,\d\d)*,\d{3}|\d{1,3})(?:\.\d+)?$/,
    "numbers in Indian groups: kept as text; `column.numeric(…, { thousands: ',', grouping: 'indian' })` reads them",
  ],
  [
    /^\d{1,2}([./-])\d{1,2}\1\d{2}$/,
    "dates with a year of two digits: kept as text; `column.date(…, { format: 'DD.MM.YY' })`, or whatever their order is, reads them",
  ],
  [
    /^(?:[-+]?[\d.,]+|\([\d.,]+\))$/,
    "negative numbers in parentheses: kept as text; `column.numeric(…).map((text) => text.replace(/^\\((.*)\\)$/, '-$1'))` reads them",
    /^\(/,
  ],
];

const booleanWords = [
  ['ja', 'nein'],
  ['oui', 'non'],
  ['si', 'no'],
  ['sí', 'no'],
  ['sim', 'não'],
  ['wahr', 'falsch'],
  ['vrai', 'faux'],
  ['да', 'нет'],
  ['on', 'off'],
] as const;

const spelled = ({ groups }: Summary): readonly string[] => {
  const texts = groups.flatMap((group) => [...group.texts.keys()]);
  if (texts.length === 0) return [];
  const found = spellings.find(
    ([pattern, , ofSome = pattern]) =>
      texts.every((text) => pattern.test(text)) && texts.some((text) => ofSome.test(text)),
  );
  if (found !== undefined) return [`${shownText(texts[0]!)}: ${found[1]}`];
  const words = [...new Set(texts.map((text) => text.toLowerCase()))];
  const pair = booleanWords.find((one) => one.every((word) => words.includes(word)));
  if (pair === undefined || words.length > 2 || groups.some(({ isFull }) => isFull)) return [];
  const [yes, no] = pair.map((word) =>
    texts
      .filter((text) => text.toLowerCase() === word)
      .map(shownText)
      .join(', '),
  );
  return [
    `only ${yes} and ${no}: kept as text; \`column.boolean(…, { true: [${yes}], false: [${no}] })\` reads them`,
  ];
};

const textDoubts = (column: ColumnEvidence, summary: Summary): Open => {
  const odd = oddOnes(column, summary);
  const words = [...column.words].filter(([word]) => !commonWords.has(word));
  const shown = words.map((word) => timesText(column, word));
  const kept = `${shown.join(', ')}: kept as text; if that means no value, declare it as \`nulls\``;
  return {
    doubts: [...(odd?.doubts ?? []), ...spelled(summary), ...(shown.length === 0 ? [] : [kept])],
    alternatives: odd?.alternatives ?? [],
  };
};

/** Decides a column's type. `isRepeated`: the header is repeated, so its name is not a value. */
export const decideColumn = (column: ColumnEvidence, name: string, isRepeated = false): Decision => {
  const { counters, words, isPadded } = column;
  const isName = ({ isFull, texts }: Group): boolean => !isFull && texts.size === 1 && texts.has(name);
  const groups = [...column.groups.values()];
  const summary = summaryOf(column, name, isRepeated ? groups.filter((one) => !isName(one)) : groups);
  const found = summary.values === 0 ? textChoice : decideSummary(summary);
  if (!isDoubt(found) && found.type !== 'text') return decided(column, found, summary.values);
  const empty = counters[counterOf.empty]! + counters[counterOf.blank]!;
  const values = [...words.values()].reduce((sum, counter) => sum + counters[counter]!, summary.values);
  const open: Open = isDoubt(found)
    ? {
        doubts: [found.doubt],
        alternatives: found.alternatives.map(({ label, choice }) => ({
          label,
          decision: decided(column, choice, summary.values),
        })),
      }
    : textDoubts(column, summary);
  return { ...textChoice, missing: empty, words: [], values, isPadded, losses: [], ...open };
};

export const onlyValue = (column: ColumnEvidence): string | undefined => {
  const groups = [...column.groups.values()];
  const isOne = groups.length === 1 && groups[0]!.texts.size === 1 && column.words.size === 0;
  return isOne && !groups[0]!.isFull ? [...groups[0]!.texts.keys()][0] : undefined;
};
