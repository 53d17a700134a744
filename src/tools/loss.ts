// A loss: a text of the files that production does not keep character for character.

import { formatCount, onOneLine, plural } from '../core/wording.ts';
import { shownText } from './shown-text.ts';

/** A text of a file, and where it is. */
export interface Example {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

export interface Loss {
  /** What is lost, such as `plus signs`. */
  readonly what: string;
  /** Number of cells, if they were counted. */
  readonly cells?: number;
  /** The first text that changes. `becomes`: what production has instead; absent or null: nothing. */
  readonly example?: (Example & { readonly becomes?: string | null }) | undefined;
  /** How it is kept. Absent for a column that can be text: `--type column=text`. */
  readonly keep?: string | undefined;
}

const exampleText = ({ example }: Loss): string => {
  if (example === undefined) return '';
  const { text, file, line, becomes = null } = example;
  const result = becomes === null ? '' : ` becomes ${onOneLine(becomes)}`;
  return `: ${shownText(text)} in line ${formatCount(line)} of ${onOneLine(file)}${result}`;
};

/** Returns the line of the report, and of the pipeline's comments, without its `!`. */
export const lossText = (loss: Loss, column = ''): string =>
  [
    ...(loss.cells === undefined ? [] : [`${plural(loss.cells, 'cell')}, `]),
    `${loss.what}${exampleText(loss)}; ${loss.keep ?? `\`--type ${column}=text\` keeps the text`}`,
  ].join('');
