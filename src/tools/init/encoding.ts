// Finds the encoding of a file that is not UTF-8 and has no byte order mark.

import { CR, LF } from '../../core/characters.ts';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { decodeText, isTextIn, type OtherEncoding } from './decode-text.ts';
import { learnWords } from './likely-words.ts';
import { surveyTexts } from './text-survey.ts';
import { shownText } from '../shown-text.ts';

/** If texts are the same in several encodings, the first of them is taken. */
const tried: readonly OtherEncoding[] = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'iso-8859-15',
  'iso-8859-2',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-16',
  'koi8-r',
  'koi8-u',
  'ibm866',
  'macintosh',
  'x-mac-cyrillic',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
];

/** Evidence for the most frequent of these encodings, in words. */
const usualEncoding: EncodingName = 'windows-1252';
const usualBonus = 0.4;
const usualScoreMin = 0.4;

/** A lower score is enough if all other candidates are far behind. */
const loneScoreMin = 0.45;
const loneRatio = 0.6;

/** Evidence by which the best candidate must lead, in words. */
const leadMin = 0.3;
const scoreMin = 0.55;
const candidatesMax = 5;
const samplesMax = 3;

export interface EncodingCandidate {
  readonly encoding: EncodingName;
  /** Texts of the file, decoded. */
  readonly samples: readonly string[];
}

/** One candidate: it is certain. Otherwise the candidates, the likeliest first. */
export type EncodingFound = readonly EncodingCandidate[];

/** Share of NULs from which a file is UTF-16: in one half of the bytes, and hardly in the other. */
const nulsMin = 0.05;
const nulsRatio = 20;

/** Returns UTF-16 if the bytes without mark are UTF-16: line ends and digits have a NUL each. */
export const utf16Of = (head: Buffer): EncodingName | undefined => {
  const nuls = [0, 0];
  let isLineEnded = false;
  for (let at = 0; at < head.length; at += 1) {
    if (head[at] !== 0) continue;
    nuls[at % 2]! += 1;
    const other = head[at % 2 === 0 ? at + 1 : at - 1];
    isLineEnded ||= other === LF || other === CR;
  }
  const [even = 0, odd = 0] = nuls;
  if (!isLineEnded || Math.max(even, odd) < (nulsMin * head.length) / 2) return undefined;
  if (odd > nulsRatio * even) return 'utf-16le';
  return even > nulsRatio * odd ? 'utf-16be' : undefined;
};

const isMultiByte = (encoding: EncodingName): boolean => /^(?:shift_jis|euc-|gb|big5)/.test(encoding);

interface Ranked extends EncodingCandidate {
  readonly encoding: OtherEncoding;
  readonly score: number;
  readonly words: number;
}

const samplesOf = (text: string): readonly string[] =>
  [
    ...new Set(
      text
        .trimEnd()
        .split('\n')
        .map((sample) => sample.trim()),
    ),
  ]
    .slice(0, samplesMax)
    .map(shownText);

/** Returns the encodings in which the texts can be read, the likeliest first. */
const rank = async (texts: Buffer, highBytes: Buffer): Promise<readonly Ranked[]> => {
  const likelihoodOf = await learnWords();
  const known = new Set<string>();
  const ranked: Ranked[] = [];
  for (const encoding of tried) {
    const all = isMultiByte(encoding) ? '' : await decodeText(highBytes, encoding);
    const text = all === undefined ? undefined : await decodeText(texts, encoding);
    if (text === undefined || known.has(`${all}${text}`)) continue;
    known.add(`${all}${text}`);
    const { score, words } = likelihoodOf(text);
    ranked.push({ encoding, samples: samplesOf(text), score, words });
  }
  return ranked.toSorted((one, other) => other.score - one.score);
};

const isCertain = ([first, second]: readonly Ranked[]): boolean => {
  const isUsual = ({ encoding }: Ranked): boolean => encoding === usualEncoding;
  if (first === undefined) return false;
  const isLone = second !== undefined && second.score <= loneRatio * first.score;
  if (first.score < (isUsual(first) ? usualScoreMin : isLone ? loneScoreMin : scoreMin)) return false;
  if (second === undefined) return true;
  const bonus = (candidate: Ranked): number => (isUsual(candidate) ? usualBonus : 0);
  const lead = first.words * (first.score - second.score) + bonus(first) - bonus(second);
  return lead >= leadMin;
};

/**
 * Finds the encoding of a file by its words. Reads the whole file, and reads it again for encodings
 * with several bytes per character, to check that every byte has a meaning there.
 */
export const findEncoding = async (open: () => AsyncIterable<Buffer>): Promise<EncodingFound> => {
  const survey = await surveyTexts(open());
  if (survey.isUtf8) return [{ encoding: 'utf-8', samples: [] }];
  const texts = Buffer.concat(survey.texts.flatMap((text) => [text, Buffer.from('\n')]));
  const clean: Ranked[] = [];
  for (const candidate of await rank(texts, survey.highBytes)) {
    if (clean.length === candidatesMax) break;
    const { encoding } = candidate;
    if (!isMultiByte(encoding) || (await isTextIn(open(), encoding))) clean.push(candidate);
  }
  return isCertain(clean) ? clean.slice(0, 1) : clean;
};
