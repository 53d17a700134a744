// Asks questions on a terminal. An empty answer means the default.

import { createInterface } from 'node:readline';
import { EtlError } from '../core/errors/errors.ts';
import { widthOf, type Io } from './io.ts';
import { visibleText, wrapUnder } from './layout.ts';

export interface Prompt {
  readonly text: (question: string, otherwise: string) => Promise<string>;
  /** Returns the index of the answer; the default is 0. */
  readonly choice: (question: string, answers: readonly string[]) => Promise<number>;
}

export const canAsk = ({ stdin, stdout, env }: Io): boolean =>
  stdin?.isTTY === true && stdout.isTTY === true && !env['CI'] && env['TERM'] !== 'dumb';

/** Asks questions. The terminal edits lines; Ctrl-C ends the process. ETL_USAGE: end of input. */
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
    const list = offered.map((answer, index) => `  ${index + 1}  ${visibleText(answer)}\n`).join('');
    for (;;) {
      const asked = wrapUnder(visibleText(question), widthOf(stdout), 2).join('\n');
      const answer = await ask(`${asked}\n${list}  which? (1) `);
      const number = answer === '' ? 1 : Number(answer);
      if (Number.isInteger(number) && number >= 1 && number <= offered.length) return number - 1;
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
