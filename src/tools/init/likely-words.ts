// Tells how likely the words of a text are: a text in the wrong encoding has words of no language.
//
// Node has the names of languages, regions and currencies in many languages. Which letters they use,
// and which letters stand beside each other, is enough to recognize words of these languages. The
// most frequent ideographs come first in the encodings of their countries.

import { decodeText, type OtherEncoding } from './decode-text.ts';

const languages =
  'de fr es pt it nl sv da nb fi is ca pl cs sk hu ro hr sl sq ru bg uk sr be mk el tr az he ar fa lt lv et vi th ja zh zh-TW ko'.split(
    ' ',
  );

interface Language {
  readonly letters: ReadonlySet<string>;
  /** Frequent ideographs and syllables. */
  readonly frequent: ReadonlySet<string>;
  /** true: a frequent pair. */
  readonly pairs: ReadonlyMap<string, boolean>;
}

const isAsciiText = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Returns all pairs of neighbours with a letter outside of ASCII. `^` and `$` are the word's ends. */
const pairsOf = (word: string): readonly string[] => {
  const characters = ['^', ...word.toLowerCase(), '$'];
  return characters
    .slice(1)
    .map((next, index) => characters[index]! + next)
    .filter((pair) => !isAsciiText(pair));
};

const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
const twoLetters = alphabet.flatMap((one) => alphabet.map((other) => one + other));

function* namesIn(language: string): Generator<string> {
  const codes = { language: twoLetters, region: twoLetters, currency: Intl.supportedValuesOf('currency') };
  for (const type of ['language', 'region', 'currency'] as const) {
    const names = new Intl.DisplayNames([language], { type, fallback: 'none' });
    for (const code of codes[type]) yield names.of(type === 'region' ? code.toUpperCase() : code) ?? '';
  }
}

/** The rows of frequent characters in an encoding with two bytes per character. */
const rows: Readonly<Record<string, readonly [encoding: OtherEncoding, first: number, last: number]>> = {
  ja: ['euc-jp', 0xb0, 0xce],
  zh: ['gb18030', 0xb0, 0xd6],
  'zh-TW': ['big5', 0xa4, 0xc5],
  ko: ['euc-kr', 0xb0, 0xc8],
};

const frequentIn = async (language: string): Promise<ReadonlySet<string>> => {
  const row = rows[language];
  if (row === undefined) return new Set();
  const [encoding, first, last] = row;
  const bytes: number[] = [];
  for (let lead = first; lead <= last; lead += 1)
    for (let trail = 0xa1; trail < 0xff; trail += 1) bytes.push(lead, trail);
  return new Set(await decodeText(Buffer.from(bytes), encoding));
};

/** A pair with at least this share of a language's pairs is frequent. */
const frequentShare = 0.002;

const learn = async (language: string): Promise<Language> => {
  const counts = new Map<string, number>();
  for (const name of namesIn(language))
    for (const [word] of name.normalize('NFC').matchAll(/[\p{L}\p{M}]+/gu))
      for (const pair of pairsOf(word)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const pairs = new Map([...counts].map(([pair, count]) => [pair, count / all >= frequentShare] as const));
  return { letters: new Set([...pairs.keys()].join('')), frequent: await frequentIn(language), pairs };
};

const scripts = ['Latin', 'Cyrillic', 'Greek', 'Hebrew', 'Arabic', 'Thai'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);

const ideograph = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Signs that are usual in texts of all languages. */
const usualSigns = /^[“”‘’‚„–—…•€£¥§°©®™«»¿¡ºª²³½¼¾·µ×÷±\u{a0}]+$/u;

/** Reduces the score of a word of two scripts or one letter, or with a sign or capital inside. */
const shapeOf = (word: string): number => {
  if (scripts.filter((script) => script.test(word)).length > 1) return 0.1;
  if (ideograph.test(word)) return /[a-z]/.test(word) ? 0.4 : 1;
  if (/[a-z][^\p{L}\p{M}’'\-–—\u{a0}][a-z]/iu.test(word)) return 0.3;
  if (/^\p{L}$/u.test(word)) return 0.4;
  return /^.+\p{Ll}\p{Lu}/u.test(word) ? 0.7 : 1;
};

const signScore = 0.8;

const [frequentScore, rareScore, unknownScore] = [1, 0.6, 0.2];

const pairScore = (pair: string, { pairs, letters }: Language): number => {
  const known = pairs.get(pair);
  if (known !== undefined) return known ? frequentScore : rareScore;
  return [...pair].every((letter) => isAsciiText(letter) || letters.has(letter)) ? unknownScore : 0;
};

const ideographScore = (letter: string, { letters, frequent }: Language): number => {
  if (letters.has(letter)) return frequentScore;
  return frequent.has(letter) ? rareScore : 0;
};

const mean = (scores: readonly number[]): number =>
  scores.reduce((sum, score) => sum + score, 0) / scores.length;

/** Returns the score of a word in a language, from 0 to 1. */
const wordScore = (word: string, pairs: readonly string[], language: Language): number =>
  ideograph.test(word)
    ? mean([...word.replace(/[\0-\x7f]/g, '')].map((letter) => ideographScore(letter, language)))
    : mean(pairs.map((pair) => pairScore(pair, language)));

const wordsMax = 300;

const wordsOf = (text: string): ReadonlySet<string> => {
  const words = new Set<string>();
  for (const [word] of text.normalize('NFC').matchAll(/[a-z]*[^\0-\x7f][a-z\u{80}-\u{10ffff}]*/giu)) {
    words.add(word);
    if (words.size === wordsMax) break;
  }
  return words;
};

export interface Likelihood {
  /** Mean score of the words outside of ASCII, from 0 to 1. */
  readonly score: number;
  readonly words: number;
}

type LikelihoodOf = (text: string) => Likelihood;

const likelihoodIn =
  (known: readonly Language[]): LikelihoodOf =>
  (text) => {
    const words = wordsOf(text);
    const byLanguage = known.map(() => 0);
    let best = 0;
    let signs = 0;
    for (const word of words) {
      const shape = shapeOf(word);
      if (shape === 1 && usualSigns.test(word.replace(/[\0-\x7f]/g, ''))) {
        signs += signScore;
        continue;
      }
      const pairs = pairsOf(word);
      const scores = known.map((language) => shape * wordScore(word, pairs, language));
      for (const [index, score] of scores.entries()) byLanguage[index]! += score;
      best += Math.max(...scores);
    }
    // Words are usually of one language: half of the score is that of the best language.
    const sum = signs + (best + Math.max(0, ...byLanguage)) / 2;
    return { score: words.size === 0 ? 0 : sum / words.size, words: words.size };
  };

const learnAll = async (): Promise<LikelihoodOf> => {
  const known: Language[] = [];
  for (const language of Intl.DisplayNames.supportedLocalesOf(languages)) known.push(await learn(language));
  return likelihoodIn(known);
};

let learned: Promise<LikelihoodOf> | undefined;

/** Returns a function that scores a text by its words with letters outside of ASCII. */
export const learnWords = (): Promise<LikelihoodOf> => (learned ??= learnAll());
