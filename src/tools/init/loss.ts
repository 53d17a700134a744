// A loss: a text of the files that the written pipeline does not keep character for character.

import { formatCount, onOneLine } from '../../core/wording.ts';
import { shownText } from './shown-text.ts';

/** A text of a file, and where it is. */
export interface Example {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

export interface Loss {
  /** What is lost, such as `the plus sign`. */
  readonly what: string;
  /** The first text that changes. `becomes`: what production has instead; absent: nothing. */
  readonly example?: (Example & { readonly becomes?: string }) | undefined;
  /** How it is kept. Absent for a column that can be text: `--type column=text`. */
  readonly keep?: string | undefined;
}

const exampleText = ({ example }: Loss): string => {
  if (example === undefined) return '';
  const { text, file, line, becomes } = example;
  const result = becomes === undefined ? '' : ` becomes ${onOneLine(becomes)}`;
  return `: ${shownText(text)} in line ${formatCount(line)} of ${onOneLine(file)}${result}`;
};

/** Returns the line of the report, and of the pipeline's comments, without its `!`. */
export const lossText = (loss: Loss, column = ''): string =>
  `${loss.what}${exampleText(loss)}; ${loss.keep ?? `\`--type ${column}=text\` keeps the text`}`;
