// Asks questions on a terminal. An empty answer means the default.

import { createInterface } from 'node:readline';
import { EtlError } from '../core/errors/errors.ts';
import { widthOf, type Io } from './io.ts';
import { visibleText, wrapUnder } from './layout.ts';

export interface Prompt {
  /** Asks again while the answer has a problem. */
  readonly text: (
    question: string,
    otherwise: string,
    problemOf: (answer: string) => string | undefined,
  ) => Promise<string>;
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
  const shown = (text: string, indent: number): string =>
    wrapUnder(visibleText(text), widthOf(stdout) - 1, indent).join('\n');
  const ask = async (question: string): Promise<string> => {
    stdout.write(`${question} `);
    const line = await answers.next();
    if (line.done !== true) return line.value.trim();
    stdout.write('\n');
    throw new EtlError('ETL_USAGE', {
      problem: 'the input ended before the last question',
      hint: 'Nothing was written. --yes asks nothing.',
    });
  };
  const choice: Prompt['choice'] = async (question, offered) => {
    const list = offered.map((answer, index) => shown(`  ${index + 1}  ${answer}`, 5));
    stdout.write(`${[shown(question, 2), ...list].join('\n')}\n`);
    for (;;) {
      const answer = await ask(`  which, 1 to ${offered.length}? (1)`);
      const number = answer === '' ? 1 : Number(answer);
      if (Number.isInteger(number) && number >= 1 && number <= offered.length) return number - 1;
    }
  };
  const text: Prompt['text'] = async (question, otherwise, problemOf) => {
    for (;;) {
      const answer = (await ask(shown(`${question} (${otherwise})`, 2))) || otherwise;
      const problem = problemOf(answer);
      if (problem === undefined) return answer;
      stdout.write(`${shown(problem, 2)}\n`);
    }
  };
  try {
    return await use({ text, choice });
  } finally {
    lines.close();
  }
};
