// Finds what a type changes in the texts of a column: what is written back is compared with the file.

import { formatCount } from '../../core/wording.ts';
import { trimBlanks } from '../../format/records/blanks.ts';
import {
  blanksAlone,
  blanksAround,
  centuries,
  hasShortYears,
  nullWords,
  whatChanges,
} from '../what-is-lost.ts';
import { writeBack } from '../write-back.ts';
import { counterOf, formsMax, type ColumnEvidence } from './column-evidence.ts';
import type { Summary, TypeChoice, Word } from './contract.ts';
import type { Example, Loss } from '../loss.ts';
import { shownText } from '../shown-text.ts';

type Changed = Example & { readonly becomes: string };
type Bare = Pick<TypeChoice, 'type' | 'options'>;

/** Returns the texts that the type changes, or undefined if it refuses one of them. */
export const changedBy = (choice: Bare, examples: readonly Example[]): readonly Changed[] | undefined => {
  const back = writeBack(choice);
  const changed: Changed[] = [];
  for (const example of examples) {
    const becomes = back(example.text);
    if (becomes === undefined) return undefined;
    if (becomes !== example.text) changed.push({ ...example, becomes });
  }
  return changed;
};

/** Returns the first choice that changes no text; otherwise the last, which accepts every text. */
export const mostFaithful = (examples: readonly Example[], choices: readonly Bare[]): TypeChoice => {
  const exact = choices.find((choice) => changedBy(choice, examples)?.length === 0);
  // Texts of one form differ in their digits alone, except for offsets.
  const isOneForm = examples.length === 1 && choices[0]!.type !== 'timestamptz';
  return { ...(exact ?? choices.at(-1)!), isOneToOne: exact !== undefined || isOneForm };
};

export const allTexts = ({ groups }: Summary): readonly Example[] =>
  groups.flatMap(({ texts }) => Array.from(texts.values(), ({ example }) => example));

/** The texts by which the type is judged: one of each form; a double, and other texts, by all that are kept. */
const judged = ({ type }: Bare, summary: Summary): readonly Example[] =>
  type === 'double'
    ? [...allTexts(summary), ...summary.groups.flatMap(({ changedByDouble: one }) => one ?? [])]
    : [
        ...summary.examples,
        ...allTexts({ ...summary, groups: summary.groups.filter(({ mask }) => mask === 0) }),
      ];

/** True if what is kept of the column does not show whether each of its texts comes back. */
const isUnjudged = (
  { type, isOneToOne }: TypeChoice,
  { groups }: Summary,
  { counters }: ColumnEvidence,
): boolean =>
  groups.some(
    ({ forms, isFull, isOfDoubles, mask }) =>
      forms.size >= formsMax ||
      (type === 'double' && isFull && !isOfDoubles) ||
      (mask === 0 && isFull && !isOneToOne),
  ) ||
  (counters[counterOf.text]! > 0 && !isOneToOne);

const ofForms = (choice: TypeChoice, summary: Summary, column: ColumnEvidence): readonly Loss[] => {
  if (['text', 'varchar', 'json'].includes(choice.type)) return [];
  const losses = new Map<string, Loss>();
  for (const example of changedBy(choice, judged(choice, summary)) ?? []) {
    const what = whatChanges(choice, example.text);
    if (!losses.has(what)) losses.set(what, { what, example });
  }
  const [example] = summary.examples;
  if (losses.size === 0 && isUnjudged(choice, summary, column))
    losses.set('', { what: 'perhaps the way in which values are written', example });
  return [...losses.values()];
};

/** Says of years of two digits in which century they are. */
const ofYears = (choice: Bare, { examples: [example] }: Summary): readonly Loss[] =>
  hasShortYears(choice) ? [{ what: `${centuries(choice)} (\`--pivot\` sets another year)`, example }] : [];

const ofWords = (
  { counters }: ColumnEvidence,
  words: readonly (readonly [text: string, word: Word])[],
): readonly Loss[] => {
  const [first] = words;
  if (first === undefined) return [];
  const shown = words.map(([text, { counter }]) => `${shownText(text)} ${formatCount(counters[counter]!)}×`);
  return [{ what: `${nullWords}, ${shown.join(', ')}`, example: first[1].example }];
};

const ofBlanks = ({ padded, blanks }: ColumnEvidence, isText: boolean): readonly Loss[] => {
  const [blank] = blanks.values();
  const keep = isText ? '`--trim no` keeps them' : undefined;
  return [
    ...(padded === undefined
      ? []
      : [{ what: blanksAround, example: { ...padded, becomes: trimBlanks(padded.text) }, keep }]),
    ...(blank === undefined ? [] : [{ what: blanksAlone, example: blank, keep }]),
  ];
};

/** Returns the losses of a column of this type. `words`: the texts that become null. */
export const lossesOf = (
  choice: TypeChoice,
  column: ColumnEvidence,
  summary: Summary,
  words: readonly (readonly [text: string, word: Word])[],
  isTrimmed: boolean,
): readonly Loss[] => {
  const isText = choice.type === 'text';
  return [
    ...ofForms(choice, summary, column),
    ...ofYears(choice, summary),
    ...ofWords(column, words),
    ...(isTrimmed || !isText ? ofBlanks(column, isText) : []),
  ];
};
