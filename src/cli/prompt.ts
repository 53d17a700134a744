// Questions on a terminal: one line each, a default for an empty answer.

import { createInterface } from 'node:readline';
import { EtlError } from '../core/errors/errors.ts';
import { widthOf, type Io } from './io.ts';
import { visibleText, wrapUnder } from './layout.ts';

/** Asks, until nothing more is asked. */
export interface Prompt {
  /** A text; empty: the default. */
  readonly text: (question: string, otherwise: string) => Promise<string>;
  /** The place of one of these; empty: the first. */
  readonly choice: (question: string, answers: readonly string[]) => Promise<number>;
}

/** Whether somebody is there who can answer. */
export const canAsk = ({ stdin, stdout, env }: Io): boolean =>
  stdin?.isTTY === true && stdout.isTTY === true && !env['CI'] && env['TERM'] !== 'dumb';

/** Gives `use` a prompt. Lines are edited as the terminal does it, and Ctrl-C ends the process. Errors: ETL_USAGE when the input ends. */
export const withPrompt = async <T>(
  { stdin, stdout }: Io,
  use: (prompt: Prompt) => Promise<T>,
): Promise<T> => {
  const lines = createInterface({ input: stdin! });
  const answers = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    stdout.write(question);
    const line = await answers.next();
    if (line.done !== true) return line.value.trim();
    throw new EtlError('ETL_USAGE', {
      problem: 'the input ended before the last question',
      hint: 'Nothing was written. --yes asks nothing.',
    });
  };
  const choice: Prompt['choice'] = async (question, offered) => {
    const list = offered.map((answer, place) => `  ${place + 1}  ${visibleText(answer)}\n`).join('');
    for (;;) {
      const asked = wrapUnder(visibleText(question), widthOf(stdout), 2).join('\n');
      const answer = await ask(`${asked}\n${list}  which? (1) `);
      const place = answer === '' ? 1 : Number(answer);
      if (Number.isInteger(place) && place >= 1 && place <= offered.length) return place - 1;
    }
  };
  try {
    return await use({
      text: async (question, otherwise) =>
        (await ask(`${visibleText(question)} (${otherwise}) `)) || otherwise,
      choice,
    });
  } finally {
    lines.close();
  }
};
